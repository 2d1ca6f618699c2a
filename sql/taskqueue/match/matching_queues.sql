-- MATCHING.md, Explanations: lists the matching TaskQueues and takes no job; pilot submission uses it.
create or replace function taskqueue.matching_queues(p_setup text, p_resource jsonb)
returns table (task_queue_id bigint, cpu_time bigint, priority float8, jobs bigint, requirements jsonb)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.identify_viewer(p_setup));
begin
  return query
    select q.task_queue_id, q.cpu_time, q.priority, n.jobs, d.requirements
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral taskqueue.jobs_in(q.setup, q.task_queue_id) n (jobs)
     where q.setup = p_setup and q.is_open and n.jobs > 0 and taskqueue.accepts(d, v_offer)
       and not exists (select from taskqueue.quarantine_of(p_setup, v_offer,
                                                           taskqueue.host_of(p_resource -> 'HostName')))
       and (v_offer.job_id is null
            or q.task_queue_id = (select j.task_queue_id from taskqueue.job j
                                   where j.setup = p_setup and j.job_id = v_offer.job_id and not j.held))
     order by q.cpu_time desc, q.priority desc, q.task_queue_id;
end $$;

comment on function taskqueue.matching_queues(text, jsonb) is
  'The open TaskQueues that match a resource description, with the number of their jobs that are not held, highest CPU '
  'bucket and priority first; none if a quarantine refuses the resource. '
  'Errors: PB001 (description), PB002 (setup not granted).';
