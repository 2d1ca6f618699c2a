-- The view shows the runs of the brokers and the outcome of their tasks. The counts are read by the key of the run.
create or replace view monitor.run as
select r.setup, r.run_id, r.algorithm, r.profile, r.trial, r.dry, r.called_by, r.started_at, r.ended_at, c.tasks,
       c.with_candidates, c.pending, c.throttled, c.failed
  from brokerage.run r
 cross join lateral (
   select count(*) as tasks, count(*) filter (where d.status = 'candidates') as with_candidates,
          count(*) filter (where d.status = 'pending') as pending,
          count(*) filter (where d.status = 'throttled') as throttled,
          count(*) filter (where d.status in ('failed', 'error')) as failed
     from brokerage.task_decision d
    where d.setup = r.setup and d.run_id = r.run_id) c
 where (r.setup = (select resource.bound_setup())) is not false;

comment on view monitor.run is
  'Runs of the brokers, with the outcome of their tasks. The setting counts_kept is the time for which a run is kept.';
comment on column monitor.run.trial is 'Trial that was active; null = no trial, or the call named a profile.';
comment on column monitor.run.tasks is 'Number of tasks that were decided and are still kept.';
comment on column monitor.run.with_candidates is 'Tasks with candidates.';
comment on column monitor.run.pending is 'Tasks that no queue or nucleus can take.';
comment on column monitor.run.throttled is 'Tasks that a rule throttled.';
comment on column monitor.run.failed is 'Tasks that a rule failed, or that could not be evaluated.';
