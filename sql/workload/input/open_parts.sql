-- The result is one row with an array, so a join of tasks to their parts has one row per task. The taken parts are
-- hashed, since their query does not depend on the part. Without the offset the planner copies the whole array to each
-- place where the caller reads it.
create or replace function workload.open_parts(p_setup text, p_task_id bigint, p_most bigint)
returns table (numbers bigint[])
language sql stable as $$
  with taken as materialized (
    select e.number from workload.job e
     where e.setup = p_setup and e.task_id = p_task_id and e.number is not null and e.rebrokered = 0
  )
  select array(select n.number
                 from generate_series(1, least(d.jobs, p_most + (select count(*) from taken))) n (number)
                where n.number not in (select t.number from taken t)
                order by n.number
                limit p_most)
    from workload.input_digest d
   where d.setup = p_setup and d.task_id = p_task_id
  offset 0
$$;

comment on function workload.open_parts(text, bigint, bigint) is
  'The numbers of the first p_most parts of a task''s input that no job works on. There is no row if the input has no '
  'digest.';
