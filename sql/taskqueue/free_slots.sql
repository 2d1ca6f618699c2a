-- Section 7: a job that ends or goes back gives its slots back. Those that a lowered limit has too many go with the next match.
create or replace function taskqueue.free_slots(p_setup text, p_job_id bigint) returns void
language sql
as $$
  update taskqueue.limit_slot s set job_id = null where s.setup = p_setup and s.job_id = p_job_id;
$$;

comment on function taskqueue.free_slots(text, bigint) is 'Gives back the limit slots of a job.';
