-- Section 7: a job that ends or goes back gives its slots back; those above a lowered ceiling go.
create or replace function taskqueue.free_slots(p_setup text, p_job_id bigint) returns void
language sql
as $$
  delete from taskqueue.limit_slot s using taskqueue.site_limit l
   where s.setup = p_setup and s.job_id = p_job_id and l.setup = s.setup and l.limit_id = s.limit_id and s.slot > l.ceiling;
  update taskqueue.limit_slot s set job_id = null where s.setup = p_setup and s.job_id = p_job_id;
$$;

comment on function taskqueue.free_slots(text, bigint) is 'Gives back the limit slots of a job.';
