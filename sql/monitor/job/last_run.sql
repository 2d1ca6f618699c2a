create or replace view monitor.last_run as
select r.setup, r.algorithm, r.run_id, r.profile, r.started_at, r.ended_at, c.tasks, c.assigned, c.pending, c.throttled,
       c.failed
  from (select distinct on (n.setup, n.algorithm) n.*
          from brokerage.run n
         where n.dry is not true and n.ended_at is not null
         order by n.setup, n.algorithm, n.run_id desc) r
 cross join lateral (
   select count(*) as tasks, count(*) filter (where d.status = 'candidates') as assigned,
          count(*) filter (where d.status = 'pending') as pending,
          count(*) filter (where d.status = 'throttled') as throttled,
          count(*) filter (where d.status in ('failed', 'error')) as failed
     from brokerage.task_decision d
    where d.setup = r.setup and d.run_id = r.run_id) c
 where (r.setup = (select resource.bound_setup())) is not false;

comment on view monitor.last_run is
  'The last run of each broker that has ended, and what became of its tasks; dry runs are left out.';
comment on column monitor.last_run.tasks is 'Tasks decided, and kept.';
comment on column monitor.last_run.assigned is 'Of them, tasks with candidates.';
comment on column monitor.last_run.pending is 'Of them, tasks that no queue or nucleus can take.';
comment on column monitor.last_run.throttled is 'Of them, tasks that a rule throttled.';
comment on column monitor.last_run.failed is 'Of them, tasks that a rule failed, or that could not be evaluated.';
