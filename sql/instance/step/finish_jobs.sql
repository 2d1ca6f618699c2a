create or replace function instance.finish_jobs(p_setup text, p_job_ids bigint[])
returns table (job_id bigint, answer text)
language plpgsql
security definer set search_path = instance, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  return query
  select l.job_id, l.answer
    from instance.leave_instances(p_setup, p_job_ids, '{placed}', 'finished', null) l;
end $$;

comment on function instance.finish_jobs(text, bigint[]) is
  'Jobs have finished: their instances have that much more room. Each is answered: finished, or why not (it is in '
  'another state, of TaskQueues, or not there). Errors: PB001 (no such setup), PB002 (setup not granted).';
