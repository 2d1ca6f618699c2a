create or replace function brokerage.end_trial(p_setup text) returns bigint
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_trial bigint;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  update brokerage.trial t
     set ended_at = resource.clock(p_setup), ended_by = resource.caller()
   where t.setup = p_setup and t.ended_at is null
  returning t.trial into v_trial;
  return v_trial;
end $$;

comment on function brokerage.end_trial(text) is
  'Ends the trial of a setup and returns its number; null if there is none. From the next part of any run on, the '
  'profile of the run decides all tasks. Errors: PB001 (no such setup), PB002 (setup not granted).';
