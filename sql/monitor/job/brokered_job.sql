-- Jobs that brokerage made, and those loaded with a world: what a report of waiting times, shares and sites reads.
create or replace view monitor.brokered_job as
select j.setup, j.job_id, j.task_id, j.number, j.queue, j.status, j.sub_status, j.priority, j.gshare, j.label,
       j.user_name, j.cores,
       j.created, j.activated, j.started, j.ended, j.rebrokered, j.previous_queues, j.input_files, j.input_bytes,
       j.events, j.state_changed,
       case when j.rebrokered > 0 then (select n.job_id from workload.job n
                                         where n.setup = j.setup and n.task_id = j.task_id and n.number = j.number
                                           and n.rebrokered in (j.rebrokered + 1, 0)
                                         order by n.rebrokered desc limit 1) end as replaced_by
  from workload.job j
 where (j.setup = (select resource.bound_setup())) is not false;

comment on view monitor.brokered_job is 'Every job of a task: where it is, and when it came through its states.';
comment on column monitor.brokered_job.sub_status is 'More of it, such as rebrokered.';
comment on column monitor.brokered_job.activated is
  'When its input was there and it came into a TaskQueue; null = not yet.';
comment on column monitor.brokered_job.started is 'When it began to run, the last time; null = not yet.';
comment on column monitor.brokered_job.ended is 'When it ended; null = not yet.';
comment on column monitor.brokered_job.replaced_by is
  'Job that got its part of the input next; null = none yet, or the part is its own.';
