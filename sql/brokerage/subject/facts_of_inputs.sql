-- The facts say whether a task has input, and how near the nearest queue is to all of it.
create or replace function brokerage.facts_of_inputs(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_locality brokerage.locality_facts[]
) returns setof brokerage.input_facts
language sql stable as $$
  select i.task_id is not null,
         case when i.first is not null then format('dataset %s is not there', i.first) end, b.level
    from unnest(p_tasks) with ordinality f
    left join (select i.task_id, min(i.dataset) as first
                 from workload.task_dataset i
                 join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
                where i.setup = p_setup and i.task_id in (select u.task_id from unnest(p_tasks) u)
                  and i.direction = 'input' and not workload.is_pseudo(d)
                group by i.task_id) i on i.task_id = f.task_id
    left join (select (l.pair - 1) / cardinality(p_queues) as task, max(l.best_level) as level
                 from unnest(p_locality) l
                group by (l.pair - 1) / cardinality(p_queues)) b on b.task = f.ordinality
   order by f.ordinality
$$;

comment on function brokerage.facts_of_inputs(
  text, brokerage.task_facts[], brokerage.queue_facts[], brokerage.locality_facts[]) is
  'Facts about the input of analysis tasks that hold at all queues, one row per task in the order of the tasks. '
  'p_locality: brokerage.facts_of_locality.';
