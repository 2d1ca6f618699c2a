create or replace function instance.cancel_jobs(p_setup text, p_job_ids bigint[])
returns table (job_id bigint, answer text)
language plpgsql
security definer set search_path = instance, pg_temp
as $$
begin
  perform instance.identify_submitter(p_setup);
  perform resource.require_known_setup(p_setup);
  return query
  select l.job_id, l.answer
    from instance.leave_instances(p_setup, p_job_ids, '{waiting,placed,unschedulable}', 'cancelled', null) l;
end $$;

comment on function instance.cancel_jobs(text, bigint[]) is
  'Jobs are not wanted any more, wherever they are: those placed leave their instances. Each is answered: cancelled, '
  'or why not (it is in another state, of TaskQueues, or not there). Errors: PB001 (no such setup), '
  'PB002 (setup not granted, or for one owner alone).';
