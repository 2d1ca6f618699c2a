create or replace view monitor.last_run as
select r.setup, r.algorithm, r.run_id, r.profile, r.started_at, r.ended_at, r.tasks, r.with_candidates, r.pending,
       r.throttled, r.failed
  from (select distinct on (n.setup, n.algorithm) n.setup, n.run_id
          from brokerage.run n
         where n.dry is not true and n.ended_at is not null
           and (n.setup = (select resource.bound_setup())) is not false
         order by n.setup, n.algorithm, n.run_id desc) n
  join monitor.run r on r.setup = n.setup and r.run_id = n.run_id;

comment on view monitor.last_run is
  'The last run of each broker that has ended, and the outcome of its tasks; dry runs are left out.';
comment on column monitor.last_run.tasks is 'Number of tasks that were decided and are still kept.';
comment on column monitor.last_run.with_candidates is 'Tasks with candidates.';
comment on column monitor.last_run.pending is 'Tasks that no queue or nucleus can take.';
comment on column monitor.last_run.throttled is 'Tasks that a rule throttled.';
comment on column monitor.last_run.failed is 'Tasks that a rule failed, or that could not be evaluated.';
