-- This is the single definition of the reasons why a broker does not take a task now. Open and due tasks
-- (brokerage.open_task and brokerage.due_task) are its rows without a reason. Tasks of users belong to the analysis
-- broker, all others to the two brokers of production. The retry time of a waiting task must be over. The task broker
-- takes tasks in JEDI's status assigning; the job brokers take tasks that have jobs to assign and a status in which
-- jobs are made.
create or replace view brokerage.task_due_state as
select x.setup, x.algorithm, x.task_id, x.of_label, x.current_priority, x.jobs, x.jobs_left, x.retry_at, x.not_open,
       x.waits, coalesce(x.not_open,
                         case when x.waits
                              then format('waits until %s: %s',
                                          to_char(x.retry_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
                                          w.decided) end) as not_due,
       case when x.retry_at is not null and d.status is distinct from 'candidates' then w.decided end as decided,
       x.status, x.of_label and x.of_status as has_task
  from (
    select t.setup, a.algorithm, t.task_id,
           (a.algorithm = 'analysis_job') = coalesce(t.label in ('user', 'panda'), false) as of_label,
           a.algorithm = 'analysis_job'
             or (a.algorithm = 'production_task') = coalesce(t.status = 'assigning', false) as of_status,
           t.status, t.current_priority, coalesce(i.jobs, 0) as jobs,
           coalesce(i.jobs, 0) - coalesce(s.assigned_jobs, 0) as jobs_left,
           s.retry_at, s.run_id,
           case
             when a.algorithm = 'production_task' and t.status is distinct from 'assigning'
             then format('status is %s (due are tasks in assigning)', coalesce(t.status, 'not known'))
             when a.algorithm = 'production_task' and (t.label in ('user', 'panda')) is not true then null
             when a.algorithm <> 'production_task'
                  and (t.status in ('ready', 'scouting', 'running', 'pending')) is not true
             then format('status is %s (due are ready, scouting, running, pending)', coalesce(t.status, 'not known'))
             when a.algorithm = 'analysis_job' and (t.label in ('user', 'panda')) is not true
             then format('label %s is not brokered: analysis jobs are, of the labels user and panda',
                         coalesce(t.label, 'not known'))
             when a.algorithm <> 'analysis_job' and t.label in ('user', 'panda')
             then format('label %s is not brokered: production jobs are, of every label but user and panda', t.label)
             when coalesce(i.jobs, 0) = 0
             then 'has no jobs: ' || coalesce((select format('dataset %s, its first input, has no files', b.dataset)
                                                 from workload.task_dataset b
                                                where b.setup = t.setup and b.task_id = t.task_id
                                                  and b.direction = 'input'
                                                order by b.position
                                                limit 1),
                                              'it has no input; jobs are made of the files of its first input '
                                              '(a pseudo_input dataset where nothing is read)')
             when s.assigned_jobs >= i.jobs
             then case when i.jobs = 1 then 'its one job is assigned'
                       else format('all %s jobs are assigned', i.jobs) end
           end as not_open,
           coalesce(s.retry_at > c.now, false) as waits
      from workload.task t
     cross join (values ('production_task'), ('production_job'), ('analysis_job')) a(algorithm)
      join resource.setup_time c on c.setup = t.setup
      left join workload.input_digest i on i.setup = t.setup and i.task_id = t.task_id
      left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id and s.algorithm = a.algorithm
     where (t.setup = (select resource.bound_setup())) is not false) x
  left join brokerage.task_decision d on d.setup = x.setup and d.run_id = x.run_id and d.task_id = x.task_id
 cross join lateral (
   select format('run %s %s', x.run_id,
                 case when d.reason is null or d.rejected > 0 then 'found none for it'
                      else format('decided %s: %s', concat_ws(', ', d.status, d.rule), d.reason) end) as decided) w;

comment on view brokerage.task_due_state is
  'Every task and broker, with the reason if the broker does not take the task now.';
comment on column brokerage.task_due_state.algorithm is
  'Broker: production_task (the task broker), production_job or analysis_job (the job brokers).';
comment on column brokerage.task_due_state.of_label is 'Whether tasks of this label belong to that broker.';
comment on column brokerage.task_due_state.jobs is 'Number of jobs of its input (workload.input_digest).';
comment on column brokerage.task_due_state.jobs_left is 'Number of jobs that are not assigned yet.';
comment on column brokerage.task_due_state.not_open is
  'The reason why the broker does not work on the task, in words; null if it does (brokerage.open_task).';
comment on column brokerage.task_due_state.waits is 'Whether its retry time is still to come.';
comment on column brokerage.task_due_state.not_due is
  'The reason why the task is not brokered now, in words; null if it is (brokerage.due_task).';
comment on column brokerage.task_due_state.decided is
  'The decision of its last run in words, if it set a retry time; null if the run assigned jobs, or if no run decided '
  'the task.';
comment on column brokerage.task_due_state.status is 'Status of the task in JEDI; null if not known.';
comment on column brokerage.task_due_state.has_task is
  'Whether the task is in the hands of that broker; this is true in one row of each task.';
