-- The order of the locks is that of all callers: TaskQueue, lease, job. A job that another transaction is moving is
-- skipped, since its agent is calling or another watcher is ending it. A job that enters a TaskQueue or a lease between
-- two of the statements is also skipped.
create or replace function lifecycle.lock_jobs(p_setup text, p_job_ids bigint[]) returns bigint[]
language plpgsql as $$
declare
  v_waiting bigint[];
  v_leased bigint[];
  v_jobs bigint[];
begin
  v_waiting := array(select j.job_id from taskqueue.job j
                      where j.setup = p_setup and j.job_id = any (p_job_ids)
                      order by j.job_id
                        for update skip locked);
  v_leased := array(select l.job_id from taskqueue.lease l
                     where l.setup = p_setup and l.job_id = any (p_job_ids)
                     order by l.job_id
                       for update skip locked);
  v_jobs := array(select j.job_id from workload.job j
                   where j.setup = p_setup and j.job_id = any (p_job_ids) and j.ended is null
                   order by j.job_id
                     for update skip locked);
  return array(select i from unnest(v_jobs) i
                where not exists (select from taskqueue.job j
                                   where j.setup = p_setup and j.job_id = i and i <> all (v_waiting))
                  and not exists (select from taskqueue.lease l
                                   where l.setup = p_setup and l.job_id = i and i <> all (v_leased)));
end $$;

comment on function lifecycle.lock_jobs(text, bigint[]) is
  'Locks jobs that have not ended, in whatever state, until the transaction ends, and returns those that it could lock '
  'without waiting.';
