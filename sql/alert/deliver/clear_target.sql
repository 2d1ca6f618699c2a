create or replace function alert.clear_target(p_setup text, p_target text) returns boolean
language plpgsql security definer set search_path = alert, pg_temp as $$
declare
  v_gone alert.target;
begin
  perform resource.identify(p_setup);
  delete from alert.target t where t.setup = p_setup and t.target = p_target returning t.* into v_gone;
  if v_gone.setup is null then
    return false;
  end if;
  perform resource.note_change(p_setup, 'alert target', p_target,
                               to_jsonb(v_gone) - '{setup,target,header}'::text[], null);
  return true;
end $$;

comment on function alert.clear_target(text, text) is
  'Removes a target, with all its notifications, also sent ones. Returns false if there was no target. Errors: '
  'PB002 (setup not granted).';
