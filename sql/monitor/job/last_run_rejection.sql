create or replace view monitor.last_run_rejection as
select r.setup, r.algorithm, r.run_id, c.rule, c.criteria, c.pairs, c.estimated
  from (select distinct on (n.setup, n.algorithm) n.setup, n.algorithm, n.run_id
          from brokerage.run n
         where n.dry is not true and n.ended_at is not null
           and (n.setup = (select resource.bound_setup())) is not false
         order by n.setup, n.algorithm, n.run_id desc) r
  join monitor.run_rejection c on c.setup = r.setup and c.run_id = r.run_id;

comment on view monitor.last_run_rejection is
  'Rejections by rule and criteria tag in the last run of each broker that has ended; dry runs are left out '
  '(monitor.run_rejection).';
comment on column monitor.last_run_rejection.rule is 'Rule that rejected.';
comment on column monitor.last_run_rejection.criteria is 'PanDA''s criteria tag of the rejections; null = none.';
comment on column monitor.last_run_rejection.pairs is 'Pairs of task and queue that were rejected.';
comment on column monitor.last_run_rejection.estimated is 'Whether the number is estimated from some of the tasks.';
