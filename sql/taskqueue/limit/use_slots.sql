-- LEASES.md, Exactness of limits: see taskqueue.lock_slots. A delay is a token bucket, stored as a clock: next_at is
-- the time at which the bucket is full again.
create or replace function taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) returns void
language sql as $$
  with gone as (
    delete from taskqueue.limit_slot s
     using jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
     where s.setup = p_setup and s.limit_id = l.limit_id and s.slot = l.slot
    returning s.limit_id, s.slot
  )
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot)
  select p_setup, p_job_id, g.limit_id, g.slot
    from gone g;
  update taskqueue.site_limit d set next_at = greatest(d.next_at, resource.clock(p_setup)) + d.delay
    from jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
   where d.setup = p_setup and d.limit_id = l.limit_id and l.slot is null;
$$;

comment on function taskqueue.use_slots(text, bigint, jsonb) is
  'Gives the slots locked by taskqueue.lock_slots to a job, and advances the clocks of its delays.';
