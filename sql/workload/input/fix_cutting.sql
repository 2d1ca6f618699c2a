-- See conventions.md, Job size. Jobs have numbers before and after a load, so the rules by which the input was cut must
-- not change between two jobs of a task.
create or replace function workload.fix_cutting(p_setup text, p_task_ids bigint[], p_by_output boolean) returns void
language plpgsql as $$
declare
  v_task_ids bigint[];
begin
  v_task_ids := array(select t.task_id
                        from workload.task t
                       where t.setup = p_setup and t.task_id = any (p_task_ids) and t.cutting is null
                       order by t.task_id  -- as a load of tasks locks them
                         for no key update);
  if v_task_ids = '{}' then
    return;
  end if;
  with fixed as (
    update workload.task t
       set cutting = jsonb_strip_nulls(to_jsonb(workload.cutting_of(t, p_by_output)))
     where t.setup = p_setup and t.task_id = any (v_task_ids)
    returning t.task_id
  )
  select array_agg(f.task_id) into v_task_ids
    from fixed f
    join workload.input_digest d on d.setup = p_setup and d.task_id = f.task_id and d.jobs_by_output is not null;
  if v_task_ids is not null then
    perform workload.digest_input(p_setup, v_task_ids);
  end if;
end $$;

comment on function workload.fix_cutting(text, bigint[], boolean) is
  'Stores with tasks that have no job yet the split rules by which their input is cut from now on '
  '(workload.task.cutting). p_by_output: nGBPerJob counts output and work space, too.';
