-- The view lists tasks for an operator. A value that costs more than a look-up by key is a subquery of its own, so that
-- a query that does not name the column does not pay for it. The view counts decisions of a task only until
-- brokerage.find_reasons has counted them.
create or replace view monitor.task as
select t.setup, t.task_id, t.status, t.label, t.gshare, t.user_name, t.current_priority as priority, t.nucleus,
       coalesce(i.jobs, 0) as jobs, coalesce(i.jobs, 0) - coalesce(s.assigned_jobs, 0) as jobs_left,
       (select d.not_due from brokerage.task_due_state d
         where d.setup = t.setup and d.task_id = t.task_id and d.algorithm = a.algorithm) as not_due,
       a.algorithm, s.run_id, s.retry_at,
       coalesce((select sum(c.jobs)::bigint from workload.job_by_task c
                  where c.setup = t.setup and c.task_id = t.task_id and c.status = 'finished'), 0) as finished,
       case when t.status = any ('{done,finished,failed,aborted,broken,exhausted,passed}') then null
            else (select coalesce(d.not_open, nullif(concat_ws('; ', d.decided, r.rejections), ''),
                                  case when s.run_id is null then 'no run has decided it yet'
                                       else format('%s of its %s jobs are not assigned', d.jobs_left, d.jobs) end)
                    from brokerage.task_due_state d
                    left join lateral (
                      select format('%s rejected %s of %s %s', v.rule, v.rejected, v.places,
                                    case a.algorithm when 'production_task' then 'nuclei' else 'queues' end)
                             as rejections
                        from (select f.most_rule as rule, f.rejected, f.places
                               where d.decided is not null and f.run_id is not null
                              union all
                              select n.rule, count(*) filter (where n.verdict = 'r'),
                                     (sum(count(*) filter (where n.verdict <> 'n')) over ())::bigint
                                from brokerage.decision n
                               where n.setup = t.setup and n.run_id = s.run_id and n.task_id = t.task_id
                                 and d.decided is not null and f.run_id is null
                               group by n.rule) v
                       where v.rule is not null and v.rejected > 0
                       order by v.rejected desc, v.rule limit 1) r on true
                   where d.setup = t.setup and d.task_id = t.task_id and d.algorithm = a.algorithm) end as why,
       (select w.reason from monitor.waiting_task w
         where w.setup = t.setup and w.task_id = t.task_id
         order by w.jobs desc, w.reason limit 1) as reason,
       case when (t.status <> all ('{done,finished,failed,aborted,broken,exhausted,passed}')) is not false
            then (select case when d.not_open is not null then null
                              when d.waits then to_char(d.retry_at at time zone 'utc',
                                                        '"from" YYYY-MM-DD HH24:MI:SS "UTC on"')
                              else 'the next run' end
                    from brokerage.task_due_state d
                   where d.setup = t.setup and d.task_id = t.task_id and d.algorithm = a.algorithm) end as next_try,
       t.max_attempt
  from workload.task t
 cross join lateral (
   select case when t.label in ('user', 'panda') then 'analysis_job'
               when t.status = 'assigning' then 'production_task'
               else 'production_job' end as algorithm) a
  left join workload.input_digest i on i.setup = t.setup and i.task_id = t.task_id
  left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id and s.algorithm = a.algorithm
  left join brokerage.waiting_reason f on f.setup = t.setup and f.task_id = t.task_id and f.algorithm = a.algorithm
                                      and f.run_id = s.run_id
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view monitor.task is
  'Tasks with their status, their jobs, and the reason why no broker takes their jobs now.';
comment on column monitor.task.status is 'Status in JEDI; null = not known.';
comment on column monitor.task.priority is 'Current priority.';
comment on column monitor.task.jobs is 'Number of jobs of its input (workload.input_digest).';
comment on column monitor.task.jobs_left is 'Number of jobs that are not assigned yet.';
comment on column monitor.task.algorithm is 'Broker of the task: production_task, production_job or analysis_job.';
comment on column monitor.task.run_id is 'Last run of that broker that decided the task; null = none.';
comment on column monitor.task.finished is 'Number of jobs that finished.';
comment on column monitor.task.why is
  'Reason why the task waits, in words: why its broker does not work on it, or the last decision with the rule that '
  'rejected the most queues, or the rest of its work; null = the task has ended.';
comment on column monitor.task.reason is
  'Reason why most of its waiting jobs wait, in one word (monitor.waiting_task); null = no job waits.';
comment on column monitor.task.next_try is
  'The run of its broker that takes the task next, in words: the next run, or the first from its retry time on; null = '
  'no run takes it.';
