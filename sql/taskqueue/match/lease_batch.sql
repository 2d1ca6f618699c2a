-- DRAWING.md, Guarantees of the draw: a batch draws the TaskQueues of its jobs side by side, each with a random stream
-- of its own, in three statements instead of six per job. The distribution is that of single matches: the draw of a
-- TaskQueue does not depend on the number of its jobs, so all streams draw a TaskQueue first; of the streams that drew
-- the same one, one at a time picks a job. Where a batch cannot be served together, taskqueue.lease_jobs continues it,
-- one job at a time: from the first stream whose TaskQueue is empty by then, or that drew no TaskQueue; where a job was
-- locked or just taken; and as a whole for resources with limits, and for resources that few TaskQueues match. Long
-- because its statements share the streams.
create or replace function taskqueue.lease_batch(
  p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql as $$
begin
  return query select * from taskqueue.lease_jobs(p_setup, p_resource, p_limit, p_seed);
end $$;

comment on function taskqueue.lease_batch(text, jsonb, int, bigint) is
  'Leases up to p_limit jobs to a resource, drawn side by side; with a seed, the draws follow from the seed. Errors: '
  'PB001 (description), PB002 (setup not granted).';
