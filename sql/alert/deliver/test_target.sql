create or replace function alert.test_target(p_setup text, p_target text) returns bigint
language plpgsql security definer set search_path = alert, pg_temp as $$
declare
  v_id bigint;
begin
  perform resource.identify(p_setup);
  insert into alert.notification (setup, target, state)
  select t.setup, t.target, 'test' from alert.target t where t.setup = p_setup and t.target = p_target
  returning notification_id into v_id;
  if v_id is null then
    raise exception 'there is no target % in setup %', resource.shown(to_jsonb(p_target)), p_setup
      using errcode = 'PB004', hint = 'broker alerts targets lists them.';
  end if;
  return v_id;
end $$;

comment on function alert.test_target(text, text) is
  'Makes a test notification for a target. `broker alerts test` or the loop notify sends it. Returns its number. '
  'Errors: PB002 (setup not granted), PB004 (no such target).';
