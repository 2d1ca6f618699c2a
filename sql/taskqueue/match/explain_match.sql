-- MATCHING.md, Explanations.
create or replace function taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb)
returns table (condition text, wanted text, offered text, holds boolean)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
declare
  v_identity resource.identity := resource.identify_viewer(p_setup);
  v_offer taskqueue.offer;
  v_state text;
  v_job taskqueue.job;
  v_task_queue taskqueue.task_queue;
  v_definition taskqueue.definition;
  v_hosts text[];
begin
  perform taskqueue.require_own_job(v_identity, p_job_id);
  v_identity.private := false;  -- the description alone defines the resource, not the identity of the caller
  v_offer := taskqueue.offer_of(p_setup, p_resource, v_identity);
  v_state := taskqueue.state_of_job(p_setup, p_job_id);
  v_definition := taskqueue.definition_of_job(p_setup, p_job_id);
  v_hosts := taskqueue.hosts_at(taskqueue.host_of(p_resource -> 'HostName'), v_offer.sites);
  select j.* into v_job from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id;
  select q.* into v_task_queue
    from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  return query select * from taskqueue.condition(v_definition, v_offer);
  return query
    select 'Quarantine', 'none', coalesce(string_agg(taskqueue.shown_quarantine(q), '; '), 'none'), count(*) = 0
      from taskqueue.quarantine_of(p_setup, v_offer, taskqueue.host_of(p_resource -> 'HostName')) q;
  return query values
    ('waiting', 'a job that waits', 'it is ' || v_state, v_state = 'waiting'),
    ('TaskQueue', 'enabled, neither it nor its owner held', case when v_task_queue is null then 'in no TaskQueue'
                                           when not v_task_queue.enabled
                                           then format('TaskQueue %s is disabled', v_task_queue.task_queue_id)
                                           when v_task_queue.held
                                           then format('TaskQueue %s is held', v_task_queue.task_queue_id)
                                           when not v_task_queue.is_open
                                           then format('owner %s is held', v_task_queue.owner_dn)
                                           else format('TaskQueue %s is open', v_task_queue.task_queue_id) end,
     coalesce(v_task_queue.is_open, false)),
    ('Avoid', coalesce('another host than ' || taskqueue.shown_avoid(v_job), 'anything'),
     coalesce('host ' || array_to_string(v_hosts, ' or '), 'names no host'),
     v_offer.job_id is not null
     or taskqueue.avoids(v_job.avoid, v_job.avoid_until, v_hosts, resource.clock(p_setup)) is not true),
    ('JobID', 'job ' || p_job_id, coalesce('wants job ' || v_offer.job_id, 'any job'),
     coalesce(v_offer.job_id = p_job_id, true));
end $$;

comment on function taskqueue.explain_match(text, bigint, jsonb) is
  'Explains why a job matches a resource description or does not: one row per condition. The resource can get the job '
  'exactly when all conditions hold; a draw decides which of the matching jobs comes next. Errors: PB001 '
  '(description), PB002 (setup or owner not granted), PB004 (no such job, or its requirements are forgotten).';
