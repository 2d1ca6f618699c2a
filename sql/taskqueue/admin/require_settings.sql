-- A change of settings recomputes the shares and keeps agents out while it runs, for seconds if there are many
-- TaskQueues. This function only tests whether the change would be refused, and locks nothing.
create or replace function taskqueue.require_settings(p_setup text, p_settings jsonb) returns void
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.check_settings('taskqueue.setting', p_settings);
end $$;

comment on function taskqueue.require_settings(text, jsonb) is
  'Refuses settings that taskqueue.set_settings would refuse, and changes nothing. Errors: PB001 (key or value), PB002 '
  '(setup not granted).';
