-- The view shows a run in a few lines: the results of its tasks, and the reasons why whole tasks were refused.
create or replace view brokerage.outcomes as
select d.setup, d.run_id, d.status, count(*) as tasks, min(coalesce(d.retry_at, s.retry_at)) as retry_at,
       min(d.task_id) as example, d.rule, (array_agg(d.reason order by d.task_id))[1] as reason
  from brokerage.task_decision d
  join brokerage.run r on r.setup = d.setup and r.run_id = d.run_id
  left join brokerage.task_state s on s.setup = d.setup and s.task_id = d.task_id and s.algorithm = r.algorithm
                                  and s.run_id = d.run_id
 where (d.setup = (select resource.bound_setup())) is not false
 group by d.setup, d.run_id, d.status, d.rule;

comment on view brokerage.outcomes is
  'Tasks of each run by result: one row per status, with the rule that throttled or failed whole tasks or had them '
  'decided without locality.';
comment on column brokerage.outcomes.tasks is 'Number of tasks.';
comment on column brokerage.outcomes.retry_at is
  'When the first of these tasks is brokered again; null if they do not wait.';
comment on column brokerage.outcomes.example is 'The lowest id of these tasks.';
comment on column brokerage.outcomes.rule is
  'Rule that throttled or failed these tasks, raised their error, or had them decided once more (anal-loops); null if '
  'there is none.';
comment on column brokerage.outcomes.reason is
  'The reason, in words, why the example was throttled or failed, its error, or the note that it was decided without '
  'locality. monitor.task_decision has the reasons of the other tasks.';
