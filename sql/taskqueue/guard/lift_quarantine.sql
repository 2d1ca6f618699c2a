-- GUARD.md, Quarantines.
create or replace function taskqueue.lift_quarantine(p_setup text, p_kind text, p_site text, p_name text)
returns boolean
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_quarantine(p_kind, p_site, p_name);
  p_name := case p_kind when 'host' then taskqueue.host_of(to_jsonb(p_name)) else p_name end;
  perform taskqueue.enter_setup(p_setup);
  -- a round locks scores and quarantines in both orders, so its mark is locked first
  perform from taskqueue.guard_mark m where m.setup = p_setup for update;
  perform from taskqueue.drop_quarantine(p_setup, p_kind, coalesce(p_site, ''), coalesce(p_name, p_site));
  if not found then
    return false;
  end if;
  perform taskqueue.mark_guarded(p_setup);
  return true;
end $$;

comment on function taskqueue.lift_quarantine(text, text, text, text) is
  'Lifts a quarantine of the guard or of an operator; a worker node begins with a score of 0. Returns '
  'false if there is none. Errors: PB001 (kind, site or name), PB002 (setup not granted).';
