-- MATCHING.md, Condition CPUTime.
create or replace function taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_definition).cpu_time <= (p_offer).cpu_time
$$;

comment on function taskqueue.accepts_cpu_time(taskqueue.definition, taskqueue.offer) is
  'Condition CPUTime: the bucket of the TaskQueue is at most the CPU time offered, seconds.';
