create or replace function taskqueue.own_job(p_setup text, p_job_id bigint)
returns table (
  job_id bigint, state text, since timestamptz, site text, heard_at timestamptz, attempts int, user_priority int,
  owner_dn text, owner_group text, task_queue_id bigint, reason text, why text
)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.require_own_job(resource.identify(p_setup), p_job_id);
  return query select * from taskqueue.place_of_job(p_setup, p_job_id);
  if not found then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'It was never inserted, or it ended and was forgotten.';
  end if;
end $$;

comment on function taskqueue.own_job(text, bigint) is
  'The place of a job of the calling submitter, since when it has been there, and why it waits; ended jobs '
  'are included. Errors: PB002 (setup or owner not granted), PB004 (no such job, or its owner is not known any more).';
