-- worlds.md, Dumping: the section task_queues, in the form that taskqueue.load_task_queues takes. The order depends on
-- the content only, not on ids of TaskQueues, so that loading a dump and dumping again gives the same text.
create or replace function taskqueue.dump_task_queues(p_setup text) returns table (task_queue jsonb)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object('requirements', d.requirements, 'enabled', q.enabled, 'jobs', n.jobs)
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral (
            select min(j.job_id) as first_id,
                   jsonb_agg(jsonb_build_array(j.job_id, j.user_priority) order by j.job_id) as jobs
              from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id) n
     where q.setup = p_setup and n.first_id is not null
     order by d.requirements::text collate "C", n.first_id;
end $$;

comment on function taskqueue.dump_task_queues(text) is
  'The TaskQueues of a setup with their waiting jobs, one row {requirements, enabled, jobs: [[id, user_priority], '
  '...]} per TaskQueue, as taskqueue.load_task_queues takes them. Holds are left out. Errors: PB002 (setup not '
  'granted).';
