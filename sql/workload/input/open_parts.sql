-- Parts that the caller does not want count as taken. The result is one row with an array, so a join of tasks to their
-- parts has one row per task. The taken parts are hashed, since their query does not depend on the part. Without the
-- offset the planner copies the whole array to each place where the caller reads it.
create or replace function workload.open_parts(
  p_setup text, p_task_id bigint, p_most bigint, p_changes text default null, p_any boolean default true
)
returns table (numbers bigint[])
language sql stable as $$
  with taken as materialized (
    select e.number from workload.job e
     where e.setup = p_setup and e.task_id = p_task_id and e.number is not null and e.rebrokered = 0
     union
    select p.number from workload.failed_part p
     where p.setup = p_setup and p.task_id = p_task_id and not p_any and p_changes is null
       and workload.changes_of_part(p) is not null
  )
  select array(select n.number
                 from (select g.number
                         from generate_series(1, least(d.jobs, p_most + (select count(*) from taken))) g (number)
                        where p_any or p_changes is null
                        union all
                       select p.number from workload.failed_part p
                        where p.setup = p_setup and p.task_id = p_task_id and not p_any
                          and workload.changes_of_part(p) = p_changes) n
                where n.number not in (select t.number from taken t)
                order by n.number
                limit p_most)
    from workload.input_digest d
   where d.setup = p_setup and d.task_id = p_task_id
  offset 0
$$;

comment on function workload.open_parts(text, bigint, bigint, text, boolean) is
  'The numbers of the first p_most parts of a task''s input that no job works on. If p_any is false, only parts with '
  'these changes of retry rules count (workload.changes_of_part). There is no row if the input has no digest.';
