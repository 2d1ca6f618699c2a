-- In the order of everybody: TaskQueue, lease, job. A job that somebody else is moving is passed over: its
-- agent speaks, or another watcher ends it. What comes into a TaskQueue or a lease between two of the
-- statements is passed over, too.
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
  'Locks jobs that have not ended wherever they are, until the transaction ends, and returns those that it could lock '
  'without waiting.';
