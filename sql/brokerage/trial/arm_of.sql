-- The arm follows from the salt of the trial and the id of the task, so a task stays in its arm however often it is
-- decided.
create or replace function brokerage.arm_of(p_setup text, p_trial bigint, p_task_id bigint) returns text
language sql stable as $$
  select case when (hashint8extended(p_task_id, t.salt) & 9223372036854775807)::float8 / 2::float8 ^ 63 < t.share
              then 'trial'
              else 'control' end
    from brokerage.trial t
   where t.setup = p_setup and t.trial = p_trial
$$;

comment on function brokerage.arm_of(text, bigint, bigint) is
  'Arm of a task in a trial, control or trial; null if there is no such trial.';
