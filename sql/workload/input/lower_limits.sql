-- RETRIES.md, Jobs of tasks. A task that a broker has locked is left for the next call, so that no caller waits. The
-- lock of a task keeps brokers from making a job between the query for the last part and the new limits. The choice of
-- tasks and the steps follow PanDA's reduce_input_per_job.
create or replace function workload.lower_limits(p_setup text) returns bigint
language plpgsql as $$
declare
  v_task record;
  v_limits jsonb;
  v_file bigint;
  v_lowered bigint := 0;
begin
  for v_task in
    select t.task_id, t.cutting, t.cutting || coalesce(t.cutting #> '{less,-1}', '{}') as now, w.failures,
           t.is_merging is not true
           and num_nonnulls(t.n_files_per_job, t.n_events_per_job, t.tgt_num_events_per_job) = 0 as by_size
      from (select p.task_id, max(p.failures) as failures from workload.failed_part p
             where p.setup = p_setup and p.less_input group by p.task_id) w
      join workload.task t on t.setup = p_setup and t.task_id = w.task_id
     order by t.task_id
       for no key update of t skip locked
  loop
    perform from workload.failed_part p  -- locked in the order of workload.note_failures
      where p.setup = p_setup and p.task_id = v_task.task_id and p.less_input order by p.number for update;
    update workload.failed_part p set less_input = false
     where p.setup = p_setup and p.task_id = v_task.task_id and p.less_input;
    select jsonb_object_agg(c.key, l.limit) filter (where l.limit < (v_task.now ->> c.key)::numeric) into v_limits
      from jsonb_each_text(v_task.cutting) c
     cross join lateral (
           select case when v_task.failures >= 7 and c.key <> 'bytes' then 1
                       else greatest(div(c.value::numeric, case when v_task.failures < 4 then 2 else 4 end), 1)
                       end) l ("limit")
     where c.key in ('files', 'most_files', 'bytes');
    select w.last_file + 1 into v_file
      from workload.input_digest d
     cross join lateral workload.part_of_task(p_setup, d.task_id,
                                              (select max(j.number) from workload.job j
                                                where j.setup = p_setup and j.task_id = d.task_id)) w
     where d.setup = p_setup and d.task_id = v_task.task_id and w.last_file < d.primary_files;
    continue when not v_task.by_size or v_limits is null or v_file is null;
    update workload.task t
       set cutting = jsonb_set(t.cutting, '{less}',
             coalesce((select jsonb_agg(l order by l -> 'file') from jsonb_array_elements(t.cutting -> 'less') l
                        where (l ->> 'file')::bigint < v_file), '[]')
             || jsonb_build_array((v_task.now - 'less') || v_limits || jsonb_build_object('file', v_file)))
     where t.setup = p_setup and t.task_id = v_task.task_id;
    perform workload.digest_input(p_setup, array[v_task.task_id]);
    v_lowered := v_lowered + 1;
  end loop;
  return v_lowered;
end $$;

comment on function workload.lower_limits(text) is
  'Lowers the limits of the tasks for which a retry rule asked for less input. The new limits apply to the parts that '
  'have had no job: half of the first limits, a quarter from the fourth failure of a part on, one file from the '
  'seventh on. Tasks whose jobs are cut by nFilesPerJob, by events or for merging keep their limits. Returns the '
  'number of tasks with new limits.';
