-- The lock lasts to the end of the transaction: nobody changes the profile of a setup while a trial begins.
create or replace function brokerage.require_no_trial(p_setup text) returns void
language plpgsql as $$
declare
  v_trial brokerage.trial;
begin
  perform from resource.setup s where s.setup = p_setup for no key update;
  select t.* into v_trial from brokerage.trial t where t.setup = p_setup and t.ended_at is null;
  if found then
    raise exception 'trial % of setup % is under way: % against %', v_trial.trial, p_setup, v_trial.profile,
      v_trial.control
      using errcode = 'PB005', hint = 'End it first: brokerage.end_trial.';
  end if;
end $$;

comment on function brokerage.require_no_trial(text) is
  'Refuses what a trial under way does not allow: another trial, another profile of the setup. Errors: PB005.';
