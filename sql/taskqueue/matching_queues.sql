-- Section 10: lists the matching queues and takes nothing; pilot submission uses it.
create or replace function taskqueue.matching_queues(p_setup text, p_resource jsonb)
returns table (task_queue_id bigint, cpu_time bigint, priority float8, jobs bigint, requirements jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
begin
  return query
    select p.task_queue_id, p.cpu_time, p.priority, n.jobs, d.requirements
      from taskqueue.posting p
      join taskqueue.definition d on d.setup = p.setup and d.definition_id = p.definition_id
     cross join lateral taskqueue.jobs_in(p.setup, p.task_queue_id) n (jobs)
     where p.setup = p_setup and p.site = '' and n.jobs > 0 and taskqueue.accepts(d, v_offer)
       and (v_offer.job_id is null
            or p.task_queue_id = (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = v_offer.job_id and not j.held))
     order by p.cpu_time desc, p.priority desc, p.task_queue_id;
end $$;

comment on function taskqueue.matching_queues(text, jsonb) is
'The open TaskQueues that match a resource description, with their jobs that are not held, highest CPU bucket and priority first. Errors: PB001 (description), PB002 (setup not granted).';
