-- See STATES.md, Statistics. One statement moves changes into the counts, so a reader who adds up both in one statement
-- reads the same before and after. Only one caller folds at a time; a second caller returns at once. Rows that another
-- session is deleting are skipped.
create or replace function workload.fold_counts(p_limit int default 100000) returns bigint
language plpgsql security definer set search_path = workload, pg_temp as $$
declare
  v_moved bigint;
begin
  perform resource.require_limit('limit', p_limit);
  if not pg_try_advisory_xact_lock(hashtext('workload.fold_counts'), 0) then
    return 0;
  end if;
  with gone as (
    delete from workload.job_change c
     where c.ctid = any (array(select i.ctid from workload.job_change i limit p_limit for update skip locked))
    returning c.*
  ), change as materialized (
    select g.*, workload.is_end(g.from_status) as from_end, workload.is_end(g.to_status) as to_end from gone g
  ), signed as materialized (
    select c.*, c.from_status as status, -1 as sign, c.from_end as is_end from change c where c.from_status is not null
    union all
    select c.*, c.to_status, 1, c.to_end from change c where c.to_status is not null
  ), by_queue as (
    insert into workload.queue_count as q (setup, queue, gshare, resource_type, nucleus, label, status, jobs, cores,
                                           disk_io, disk_io_jobs)
    select s.setup, s.queue, s.gshare, s.resource_type, s.nucleus, s.label, s.status, sum(s.sign * s.jobs),
           sum(s.sign * s.cores), sum(s.sign * coalesce(s.disk_io, 0)), sum(s.sign * s.disk_io_jobs)
      from signed s where not s.is_end
     group by s.setup, s.queue, s.gshare, s.resource_type, s.nucleus, s.label, s.status
     order by s.setup, s.queue, s.gshare, s.resource_type, s.nucleus, s.label, s.status
    on conflict on constraint queue_count_key do update
       set jobs = q.jobs + excluded.jobs, cores = q.cores + excluded.cores, disk_io = q.disk_io + excluded.disk_io,
           disk_io_jobs = q.disk_io_jobs + excluded.disk_io_jobs
  ), by_user as (
    insert into workload.user_count as u (setup, user_name, working_group, queue, gshare, label,
                                          processing_type, status, jobs, cores)
    select s.setup, s.user_name, s.working_group, s.queue, s.gshare, s.label, s.processing_type, s.status,
           sum(s.sign * s.jobs), sum(s.sign * s.cores)
      from signed s where not s.is_end
     group by s.setup, s.user_name, s.working_group, s.queue, s.gshare, s.label, s.processing_type, s.status
     order by s.setup, s.user_name, s.working_group, s.queue, s.gshare, s.label, s.processing_type, s.status
    on conflict on constraint user_count_key do update
       set jobs = u.jobs + excluded.jobs, cores = u.cores + excluded.cores
  ), by_task as (
    insert into workload.task_count as t (setup, task_id, status, jobs, cores)
    select s.setup, s.task_id, s.status, sum(s.sign * s.jobs), sum(s.sign * s.cores)
      from signed s where s.task_id is not null
     group by s.setup, s.task_id, s.status
     order by s.setup, s.task_id, s.status
    on conflict on constraint task_count_key do update
       set jobs = t.jobs + excluded.jobs, cores = t.cores + excluded.cores
  ), started as (
    insert into workload.start_count as n (setup, queue, gshare, resource_type, minute, jobs, last_at)
    select c.setup, c.queue, c.gshare, c.resource_type, date_trunc('minute', c.at, 'utc'), sum(c.jobs), max(c.at)
      from change c where c.to_status = 'running' and c.from_status is not null
     group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict on constraint start_count_key do update
       set jobs = n.jobs + excluded.jobs, last_at = greatest(n.last_at, excluded.last_at)
  ), ended as (
    insert into workload.end_count as n (setup, task_id, queue, status, minute, jobs)
    select c.setup, c.task_id, c.queue, c.to_status, date_trunc('minute', c.at, 'utc'), sum(c.jobs)
      from change c where c.to_end and c.task_id is not null and c.from_status is not null
     group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict on constraint end_count_key do update set jobs = n.jobs + excluded.jobs
  )
  select count(*) into v_moved from gone;
  return v_moved;
end $$;

comment on function workload.fold_counts(int) is
  'Moves up to the given number of changes into the counts and returns how many it moved. The views that add up both '
  'show the same before and after. The result is 0 while another session folds.';
