-- Loaded jobs are counted like jobs that started and ended here; the nucleus of a job is that of its task. A load does
-- not change how the input of a task is cut whose jobs were made (workload.fix_cutting). Nobody folds changes into the
-- counts until the transaction ends, since the load writes and keeps rows of counts: an agent whose call folds would
-- wait for them.
create or replace function workload.store(
  p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false
) returns bigint
language plpgsql security definer set search_path = workload, pg_temp as $$
declare
  v_stored bigint;
  v_ids bigint[];
  v_started workload.start_count[];
  v_ended workload.end_count[];
  v_moved bigint[];
  v_statuses text[];
  v_cuttings jsonb;  -- by task
begin
  perform resource.identify(p_setup);
  perform pg_advisory_xact_lock_shared(hashtext('workload.fold_counts'), 0);
  if p_table = 'job' then
    perform workload.refuse_jobs(p_rows);
    v_ids := workload.lock_given_jobs(p_setup, p_rows, p_parents);
    -- a load keeps the status of a job that changed in this database: a TaskQueue or a lease may have the job
    select array_agg(j.job_id), array_agg(j.status) into v_moved, v_statuses
      from workload.job j
     where j.setup = p_setup and j.job_id = any (v_ids)
       and exists (select from workload.job_history h where h.setup = p_setup and h.job_id = j.job_id);
    v_started := array(select s from workload.starts_of_jobs(p_setup, v_ids) s);
    v_ended := array(select e from workload.ends_of_jobs(p_setup, v_ids) e);
  elsif p_table = 'task' then
    -- locked, since a broker may be making the first job of a task
    select jsonb_object_agg(l.task_id, l.cutting) into v_cuttings
      from (select t.task_id, t.cutting
              from workload.task t
             where t.setup = p_setup
               and t.task_id = any (array(select floor((r -> 'task_id')::numeric)::bigint
                                            from jsonb_path_query(p_rows, 'lax $[*]') r
                                           where jsonb_typeof(r -> 'task_id') = 'number'
                                             and (r -> 'task_id')::numeric between 0 and 9e18))
             order by t.task_id
            offset 0  -- all are locked before the condition
               for no key update) l
     where l.cutting is not null;
  end if;
  v_stored := resource.store_rows(p_setup, workload.world_table(p_table), p_rows, p_parents, p_merge);
  if p_table = 'job' then
    perform workload.refuse_moves(p_setup, v_moved, v_statuses);
    perform workload.reserve_ids(p_setup);
    insert into workload.start_count as n (setup, queue, gshare, resource_type, minute, jobs, last_at)
    select d.setup, d.queue, d.gshare, d.resource_type, d.minute, sum(d.jobs * d.sign),
           coalesce(max(d.last_at) filter (where d.sign = 1), d.minute)
      from (select s.*, 1 as sign from workload.starts_of_jobs(p_setup, v_ids) s
             union all select s.*, -1 from unnest(v_started) s) d
     group by d.setup, d.queue, d.gshare, d.resource_type, d.minute
    having sum(d.jobs * d.sign) <> 0
     order by d.setup, d.queue, d.gshare, d.resource_type, d.minute
    on conflict on constraint start_count_key do update
       set jobs = n.jobs + excluded.jobs, last_at = greatest(n.last_at, excluded.last_at);
    insert into workload.end_count as n (setup, task_id, queue, status, minute, jobs)
    select d.setup, d.task_id, d.queue, d.status, d.minute, sum(d.jobs * d.sign)
      from (select e.*, 1 as sign from workload.ends_of_jobs(p_setup, v_ids) e
             union all select e.*, -1 from unnest(v_ended) e) d
     group by d.setup, d.task_id, d.queue, d.status, d.minute
    having sum(d.jobs * d.sign) <> 0
     order by d.setup, d.task_id, d.queue, d.status, d.minute
    on conflict on constraint end_count_key do update set jobs = n.jobs + excluded.jobs;
  end if;
  update workload.task t
     set cutting = c.cutting
    from jsonb_each(v_cuttings) c(task_id, cutting)
   where t.setup = p_setup and t.task_id = c.task_id::bigint and t.cutting is distinct from c.cutting;
  if p_table in ('job', 'task') then
    update workload.job j set nucleus = t.nucleus
      from workload.task t
     where j.setup = p_setup and j.number is null and t.setup = j.setup and t.task_id = j.task_id
       and t.nucleus is distinct from j.nucleus;
    if p_table = 'job' or found then
      perform workload.correct_counts(p_setup);
    end if;
  end if;
  return v_stored;
end $$;

comment on function workload.store(text, text, jsonb, jsonb, boolean) is
  'Upserts an array of objects into a table of the schema workload, and returns the number of rows stored. Keys are '
  'columns. A key that is left out gets the default of the column; with p_merge it keeps its value in an existing row. '
  'A null value is stored as null. The rows of p_parents (values of the first key column, or objects with that and '
  'other columns; true = all rows) are deleted first. Jobs whose state has changed in this database keep their status. '
  'Errors: PB001 (a row is wrong), PB002 (setup not granted), PB005 (such a job would be deleted or get another '
  'status).';
