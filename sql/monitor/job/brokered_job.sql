-- The view has jobs that brokerage made and jobs that were loaded with a world, for reports of waiting times, shares
-- and sites.
create or replace view monitor.brokered_job as
select j.setup, j.job_id, j.task_id, j.number, j.queue, j.status, j.sub_status, j.priority, j.gshare, j.label,
       j.user_name, j.cores,
       j.created, j.activated, j.started, j.ended, j.rebrokered, j.previous_queues, j.input_files, j.input_bytes,
       j.events, j.state_changed,
       case when j.rebrokered > 0 then (select n.job_id from workload.job n
                                         where n.setup = j.setup and n.task_id = j.task_id and n.number = j.number
                                           and n.rebrokered in (j.rebrokered + 1, 0)
                                         order by n.rebrokered desc limit 1) end as replaced_by,
       (select workload.changes_of_part(p) from workload.failed_part p
         where p.setup = j.setup and p.task_id = j.task_id and p.number = j.number) as changes,
       j.retry_at
  from workload.job j
 where (j.setup = (select resource.bound_setup())) is not false;

comment on view monitor.brokered_job is 'Every job of a task, with its place and the times of its states.';
comment on column monitor.brokered_job.sub_status is 'Detail of the status, such as rebrokered.';
comment on column monitor.brokered_job.activated is
  'When the input of the job was complete and the job entered a TaskQueue; null = not yet.';
comment on column monitor.brokered_job.started is 'When the job last began to run; null = not yet.';
comment on column monitor.brokered_job.ended is 'When the job ended; null = not yet.';
comment on column monitor.brokered_job.replaced_by is
  'The next job that got the same part of the input; null = none yet, or the part still belongs to this job.';
comment on column monitor.brokered_job.changes is
  'Changes that retry rules made to the part of the input, for the next job of the part; null = none.';
comment on column monitor.brokered_job.retry_at is
  'When a retry rule gives the part of the failed job back to its task; null = no rule does, or the part went back.';
