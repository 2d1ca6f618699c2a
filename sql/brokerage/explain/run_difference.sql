-- A what-if compares two runs over the same tasks, before and after a change. Rows that a run has just stored have no
-- statistics yet, so nested loops are off, as are sorts where hashing works.
create or replace function brokerage.run_difference(p_setup text, p_before bigint, p_after bigint)
returns table (task_id bigint, status_before text, status_after text, gained text[], lost text[], queue text,
               weight_before float8, weight_after float8, best_before text, best_after text)
language plpgsql stable security definer set search_path = brokerage, pg_temp set enable_nestloop = off
set enable_sort = off set work_mem = '64MB' as $$
#variable_conflict use_column
begin
  perform resource.identify_viewer(p_setup);
  perform brokerage.require_runs(p_setup, array[p_before, p_after]);
  return query
  with status as (
    select task_id, b.status as before, a.status as after
      from (select d.task_id, d.status from brokerage.task_decision d where d.setup = p_setup and d.run_id = p_before) b
      full join (select d.task_id, d.status from brokerage.task_decision d
                  where d.setup = p_setup and d.run_id = p_after) a using (task_id)
  ), candidate as (
    select task_id, queue, b.rank as rank_before, a.rank as rank_after, b.weight as weight_before,
           a.weight as weight_after,
           b.rank is not null and a.rank is not null and b.weight is distinct from a.weight as is_other
      from (select d.task_id, d.queue, d.rank, d.weight
              from brokerage.candidate_of_run d
             where d.setup = p_setup and d.run_id = p_before) b
      full join (select d.task_id, d.queue, d.rank, d.weight
                   from brokerage.candidate_of_run d
                  where d.setup = p_setup and d.run_id = p_after) a using (task_id, queue)
  ), change as (
    select c.task_id,
           array_agg(c.queue order by c.rank_after) filter (where c.rank_before is null) as gained,
           array_agg(c.queue order by c.rank_before) filter (where c.rank_after is null) as lost,
           (array_agg(c.queue order by c.rank_before) filter (where c.is_other))[1] as queue,
           (array_agg(c.weight_before order by c.rank_before) filter (where c.is_other))[1] as weight_before,
           (array_agg(c.weight_after order by c.rank_before) filter (where c.is_other))[1] as weight_after,
           (array_agg(c.queue order by c.rank_before) filter (where c.rank_before is not null))[1] as best_before,
           (array_agg(c.queue order by c.rank_after) filter (where c.rank_after is not null))[1] as best_after
      from candidate c
     group by c.task_id
  )
  select s.task_id, s.before, s.after, coalesce(c.gained, '{}'), coalesce(c.lost, '{}'), c.queue, c.weight_before,
         c.weight_after, c.best_before, c.best_after
    from status s
    left join change c on c.task_id = s.task_id
   where s.before is distinct from s.after or c.gained is not null or c.lost is not null or c.queue is not null
   order by s.task_id;
end $$;

comment on function brokerage.run_difference(text, bigint, bigint) is
  'Tasks that two runs decided differently: status (null if the run did not decide the task), candidates gained and '
  'lost, the best candidate of both runs whose weight changed, and the best candidate before and after. Errors: PB001, '
  'PB002, PB004 (no such run).';
