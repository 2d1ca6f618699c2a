-- LEASES.md, Limits.
create or replace function taskqueue.clear_limit(
  p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text
) returns boolean
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_limit_kind(p_kind);
  perform taskqueue.reconfigure(p_setup);
  delete from taskqueue.site_limit l
   where l.setup = p_setup and l.kind = p_kind and l.site = p_site and l.grid_ce is not distinct from p_ce
     and l.attribute = v_key and l.value = p_value
  returning l.limit_id into v_id;
  if not found then
    return false;
  end if;
  perform taskqueue.forget_descriptions(p_setup);
  if not exists (select from taskqueue.site_limit l
                  where l.setup = p_setup and l.attribute = v_key and l.value = p_value) then
    perform taskqueue.mark_limited(p_setup, v_key, p_value);
  end if;
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = v_id;
  return true;
end $$;

comment on function taskqueue.clear_limit(text, text, text, text, text, text) is
  'Removes a limit; false if there is no such limit. Errors: PB001 (kind or attribute), PB002 (setup not granted), '
  'PB006 (busy).';
