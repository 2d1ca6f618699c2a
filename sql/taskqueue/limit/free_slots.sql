-- LEASES.md, Exactness of limits: jobs that end or go back return their slots. The next match removes surplus slots of
-- a lowered limit. No other transaction deletes the slot uses of these jobs or has a free slot of the same number, so
-- this call does not wait.
create or replace function taskqueue.free_slots(p_setup text, p_job_ids bigint[]) returns void
language sql as $$
  with gone as (
    delete from taskqueue.limit_use u
     where u.setup = p_setup and u.job_id = any (p_job_ids)
    returning u.limit_id, u.slot
  )
  insert into taskqueue.limit_slot (setup, limit_id, slot) select p_setup, g.limit_id, g.slot from gone g;
$$;

comment on function taskqueue.free_slots(text, bigint[]) is 'Returns the limit slots of jobs.';
