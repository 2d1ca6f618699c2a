-- Section 10: why a job does, or does not, match a resource.
create or replace function taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb)
returns table (condition text, wanted text, offered text, holds boolean)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.identify_viewer(p_setup));
  v_state text := taskqueue.state_of_job(p_setup, p_job_id);
  v_queue taskqueue.task_queue;
  v_definition taskqueue.definition;
begin
  v_definition := taskqueue.definition_of_job(p_setup, p_job_id);
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  return query select * from taskqueue.condition(v_definition, v_offer);
  return query values
    ('waiting', 'a job that waits', 'it is ' || v_state, v_state = 'waiting'),
    ('queue', 'enabled, neither queue nor owner held', case when v_queue is null then 'in no queue'
                                           when not v_queue.enabled
                                           then format('queue %s is disabled', v_queue.task_queue_id)
                                           when v_queue.held then format('queue %s is held', v_queue.task_queue_id)
                                           when not taskqueue.is_open(v_queue)
                                           then format('owner %s is held', v_queue.owner_dn)
                                           else format('queue %s is open', v_queue.task_queue_id) end,
     taskqueue.is_open(v_queue)),
    ('JobID', 'job ' || p_job_id, coalesce('wants job ' || v_offer.job_id, 'any job'),
     coalesce(v_offer.job_id = p_job_id, true));
end $$;

comment on function taskqueue.explain_match(text, bigint, jsonb) is
  'Why a job matches a resource description or not: one row a condition. The job can be matched by the resource '
  'exactly when all hold; whether it is the next one is drawn. Errors: PB001 (description), PB002 (setup not granted), '
  'PB004 (no such job, or its requirements are forgotten).';
