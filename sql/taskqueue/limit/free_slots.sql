-- Section 7: jobs that end or go back give their slots back. Those that a lowered limit has
-- too many go with the next match.
-- Rows of its own alone: nobody else deletes its uses, and nobody has a free slot of the same
-- number, so this waits for nobody.
create or replace function taskqueue.free_slots(p_setup text, p_job_ids bigint[]) returns void
language sql
as $$
  with gone as (
    delete from taskqueue.limit_use u
     where u.setup = p_setup and u.job_id = any (p_job_ids)
    returning u.limit_id, u.slot
  )
  insert into taskqueue.limit_slot (setup, limit_id, slot) select p_setup, g.limit_id, g.slot from gone g;
$$;

comment on function taskqueue.free_slots(text, bigint[]) is 'Gives back the limit slots of jobs.';
