-- See production-load.md, cap-rt. The rule applies to every queue with statistics of the task's resource types. R
-- counts if it is more than the running jobs of these types.
create or replace function brokerage.rule_cap_rt(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
         and brokerage.type_waiting(t, q, p)
               > greatest(t.nqueuelimitsite, 2 * greatest(p.type_running, brokerage.running_workers_panda2026(t, q, p)))
    then format('%s jobs of its resource types are waiting, more than %s and than twice the running %s',
                brokerage.type_waiting(t, q, p), t.nqueuelimitsite,
                greatest(p.type_running, brokerage.running_workers_panda2026(t, q, p)))
  end
$$;

comment on function brokerage.rule_cap_rt(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'cap-rt: the number of waiting jobs of the task''s resource types is not over the larger of NQUEUELIMITSITE and '
  'twice the number of running jobs.';
