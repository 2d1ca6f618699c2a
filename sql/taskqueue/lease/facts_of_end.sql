-- ENDS.md, Facts of ends. Inlined.
create or replace function taskqueue.facts_of_end(p_lease taskqueue.lease, p_facts taskqueue.run_facts)
returns taskqueue.run_facts
language sql immutable as $$
  select row(coalesce(p_lease.host, p_facts.host), coalesce(p_facts.error, p_lease.error),
             coalesce(p_facts.cpu_used, p_lease.cpu_used), coalesce(p_facts.wall_used, p_lease.wall_used),
             greatest(p_facts.ram_used, p_lease.ram_used), coalesce(p_facts.cores_used, p_lease.cores_used), null
            )::taskqueue.run_facts
$$;

comment on function taskqueue.facts_of_end(taskqueue.lease, taskqueue.run_facts) is
  'The facts of the end of a lease. A fact that comes with the end counts, else that of the last report that has it. '
  'The host is the first that was named, and the memory is the largest.';
