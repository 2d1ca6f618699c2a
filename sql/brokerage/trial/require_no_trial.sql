-- The lock lasts until the transaction ends, so that no other transaction changes the profile of a setup while a trial
-- begins.
create or replace function brokerage.require_no_trial(p_setup text, p_profile text default null) returns void
language plpgsql as $$
declare
  v_trial brokerage.trial;
begin
  perform resource.require_read_committed();
  perform from resource.setup s where s.setup = p_setup for no key update;
  select t.* into v_trial
    from brokerage.trial t
   where t.setup = p_setup and t.ended_at is null and p_profile is distinct from t.control;
  if found then
    raise exception 'trial % of setup % is under way: % against %', v_trial.trial, p_setup, v_trial.profile,
      v_trial.control
      using errcode = 'PB005', hint = 'End it first: brokerage.end_trial.';
  end if;
end $$;

comment on function brokerage.require_no_trial(text, text) is
  'Refuses changes that a trial under way does not allow: another trial, or another profile of the setup (p_profile). '
  'Errors: PB001 (isolation level), PB005.';
