-- The keys are a number for share and priority (rung), and one for the output tokens (outlet; null if all outputs go to
-- places of their own).
create or replace function brokerage.nucleus_keys(
  p_setup text, p_tasks brokerage.task_facts[], p_base_profile text
) returns setof brokerage.nucleus_key
language sql stable as $$
  with task as materialized (
    select t.ordinality as number, t.task_id, t.gshare, t.current_priority, t.full_chain
      from unnest(p_tasks) with ordinality t
  )
  select dense_rank() over (order by t.gshare, t.current_priority),
         case when o.tokens is not null then dense_rank() over (order by c.is_chained, o.tokens) end,
         c.is_chained, o.tokens
    from task t
    left join (select t.number as task, array_agg(distinct coalesce(d.token, '')) as tokens
                 from task t
                 left join workload.task_dataset d on p_base_profile <> 'documented' and d.setup = p_setup
                                                  and d.task_id = t.task_id and d.direction = 'output'
                where coalesce(d.token, '') not like 'ddd:%'
                group by t.number) o on o.task = t.number
   cross join lateral (select p_base_profile <> 'documented' and t.full_chain is not null) c(is_chained)
   order by t.number
$$;

comment on function brokerage.nucleus_keys(text, brokerage.task_facts[], text) is
  'The keys by which tasks share the facts of nuclei, one row per task in the order of the tasks.';
