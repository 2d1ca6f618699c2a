-- Explanations without a named profile use the profile that would decide about the task.
create or replace function brokerage.profile_of_task(p_setup text, p_task_id bigint, p_profile text) returns text
language sql stable as $$
  select coalesce(brokerage.profile_name(p_profile),
                  (select t.profile
                     from brokerage.trial t
                    where t.setup = p_setup and t.ended_at is null
                      and brokerage.arm_of(p_setup, t.trial, p_task_id) = 'trial'),
                  brokerage.profile_in_force(p_setup))
$$;

comment on function brokerage.profile_of_task(text, bigint, text) is
  'The profile that decides about a task: the one named in the call, else the one of its arm in a trial, else the one '
  'of the setup.';
