-- G12, G13: what the input of tasks amounts to. Jobs are groups of primary files; the other datasets are sliced in parallel.
create or replace function workload.digest_input(p_setup text, p_task_ids bigint[]) returns bigint
language plpgsql
security definer set search_path = workload, pg_temp
as $$
declare
  v_digested bigint;
begin
  perform resource.identify(p_setup);
  delete from workload.input_digest i where i.setup = p_setup and i.task_id = any (p_task_ids);
  insert into workload.input_digest (setup, task_id, files, size, shared_files, jobs, job_events, job_input_mb, job_input_bytes, events)
  with task as (
    select t.task_id, greatest(case when t.is_merging then t.n_files_per_merge_job else t.n_files_per_job end, 1) as files_per_job
      from workload.task t
     where t.setup = p_setup and t.task_id = any (p_task_ids)
  ),
  input as (
    select t.task_id, t.files_per_job, d.dataset, row_number() over (partition by t.task_id order by d.position) as number,
           coalesce(workload.is_pseudo(s), false) as is_pseudo
      from task t
      join workload.task_dataset d on d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input'
      left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
  ),
  content as (
    select f.dataset, f.lfn, coalesce(f.size, 0) as size, coalesce(f.nevents, 0) as nevents,
           row_number() over (partition by f.dataset order by f.position) - 1 as place
      from workload.dataset_file f
     where f.setup = p_setup and f.dataset in (select i.dataset from input i)
  ),
  file as (
    select i.task_id, i.number, i.is_pseudo, c.lfn, c.size, c.nevents, c.place / i.files_per_job as job,
           max(c.place / i.files_per_job) filter (where i.number = 1) over (partition by i.task_id) as last_job
      from input i
      join content c on c.dataset = i.dataset
  ),
  named as (
    select f.task_id, f.lfn, (array_agg(f.size order by f.number))[1] as size, count(distinct f.number) > 1 as is_shared
      from file f where not f.is_pseudo
     group by f.task_id, f.lfn
  ),
  total as (
    select n.task_id, count(*) as files, sum(n.size) as size, bool_or(n.is_shared) as shared_files
      from named n
     group by n.task_id
  ),
  job_file as (
    select f.task_id, f.job, f.lfn, max(f.size) as size
      from file f
     where f.job <= f.last_job
     group by f.task_id, f.job, f.lfn
  ),
  job_bytes as (
    select b.task_id, max(b.bytes) as bytes
      from (select j.task_id, j.job, sum(j.size) as bytes from job_file j group by j.task_id, j.job) b
     group by b.task_id
  ),
  primary_job as (
    select p.task_id, count(*) as jobs, max(p.events) as job_events, max(p.mb) as job_input_mb, sum(p.events) as events
      from (select f.task_id, f.job, sum(f.nevents) as events, sum(case when f.size = 0 then 1 else f.size / 1048576.0::float8 end) as mb
              from file f where f.number = 1
             group by f.task_id, f.job) p
     group by p.task_id
  )
  select p_setup, t.task_id, coalesce(o.files, 0), coalesce(o.size, 0), coalesce(o.shared_files, false), coalesce(p.jobs, 0), coalesce(p.job_events, 0),
         coalesce(p.job_input_mb, 0), coalesce(b.bytes, 0), coalesce(p.events, 0)
    from task t
    left join total o on o.task_id = t.task_id
    left join primary_job p on p.task_id = t.task_id
    left join job_bytes b on b.task_id = t.task_id;
  get diagnostics v_digested = row_count;
  return v_digested;
end $$;

comment on function workload.digest_input(text, bigint[]) is
'Computes workload.input_digest of tasks from their input datasets anew and returns how many tasks there were; call it when tasks or datasets change. Errors: PB002 (setup not granted).';
