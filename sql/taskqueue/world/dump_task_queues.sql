-- worlds.md, Dumping: the section task_queues, in the form that taskqueue.load_task_queues takes. The order depends on
-- the content only, not on ids of TaskQueues, so that loading a dump and dumping again gives the same text.
create or replace function taskqueue.dump_task_queues(p_setup text) returns table (task_queue jsonb)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  return query
    with change as materialized (
      select j as job, p.job_id, j.task_queue_id, taskqueue.requirements_after(d.requirements, p) as requirements
        from taskqueue.pending_change p
        join taskqueue.job j on j.setup = p.setup and j.job_id = p.job_id and j.entry_id = p.entry_id
        join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
        join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
       where p.setup = p_setup
    )
    select jsonb_build_object('requirements', n.requirements, 'enabled', q.enabled, 'jobs', n.jobs)
           || case when q.held then '{"held": true}' else '{}'::jsonb end
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral (
            select d.requirements, min(j.job_id) as first_id,
                   jsonb_agg(taskqueue.dumped_job(j) order by j.job_id) as jobs
              from taskqueue.job j
             where j.setup = q.setup and j.task_queue_id = q.task_queue_id
               and j.job_id not in (select c.job_id from change c)
             union all
            select c.requirements, min(c.job_id),
                   jsonb_agg(taskqueue.dumped_job(c.job) order by c.job_id)
              from change c where c.task_queue_id = q.task_queue_id
             group by c.requirements) n
     where q.setup = p_setup and n.first_id is not null
     order by n.requirements::text collate "C", n.first_id;
end $$;

comment on function taskqueue.dump_task_queues(text) is
  'The TaskQueues of a setup with their waiting jobs, one row {requirements, enabled, held, jobs: [[id, '
  'user_priority], ...]} per TaskQueue, as taskqueue.load_task_queues takes them. A job that is held, was matched or '
  'avoids a host has its state (taskqueue.dumped_job), and a job with a pending change of a retry rule has its new '
  'requirements. Errors: PB002 (setup not granted).';
