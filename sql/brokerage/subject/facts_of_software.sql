-- The rows have the queues that do not publish the needed software and hardware (brokerage.software_problems), and the
-- part of the CPUs that have the preferred architecture level.
create or replace function brokerage.facts_of_software(
  p_setup text, p_tasks brokerage.task_facts[], p_keys brokerage.task_key[], p_queues brokerage.queue_facts[],
  p_base_profile text, p_analysis boolean
) returns setof brokerage.software_facts
language sql stable as $$
  with needed as materialized (
    select distinct k.software_number as number, k.software_key, k.level from unnest(p_keys) k
  ), unified as materialized (
    select u.number, u.queue from brokerage.unified_queues(p_queues) u
  )
  select x.place, min(x.problem), min(x.percent)
    from (select k.number * cardinality(p_queues) + u.number as place, r.problem, null::float8 as percent
            from brokerage.software_problems(p_setup, array(select t.task_id from unnest(p_tasks) t), p_base_profile,
                                             p_analysis) r
            join needed k on k.software_key = r.software_key
            join unified u on u.queue = r.queue
          union all
          select k.number * cardinality(p_queues) + u.number, null, v.percent
            from needed k
            join resource.architecture_level v on v.setup = p_setup and v.level = k.level
            join unified u on u.queue = v.queue) x
   group by x.place
$$;

comment on function brokerage.facts_of_software(
  text, brokerage.task_facts[], brokerage.task_key[], brokerage.queue_facts[], text, boolean) is
  'Software and hardware that does not fit, one row per need and PanDA queue. p_analysis: whether tasks are compared '
  'as analysis; null means the label of each task.';
