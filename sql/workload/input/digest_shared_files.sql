-- A file that two datasets of a task share counts once in a job. Such tasks are rare, so only their jobs are looked at
-- file by file, the first million of each.
create or replace function workload.digest_shared_files(p_setup text, p_task_ids bigint[]) returns void
language sql as $$
  update workload.input_digest d
     set job_input_bytes = coalesce(
           (select max(j.bytes)
              from (select sum(n.size)::bigint as bytes
                      from (select f.at, max(f.size) as size
                              from workload.files_of_parts(p_setup, d.task_id,
                                     array(select generate_series(1, least(d.jobs, 1000000)))) f
                             group by f.at, f.lfn) n
                     group by n.at) j), 0)
   where d.setup = p_setup and d.task_id = any (p_task_ids) and d.shared_files
$$;

comment on function workload.digest_shared_files(text, bigint[]) is
  'Corrects the bytes of the largest job (workload.input_digest) of tasks whose datasets share files.';
