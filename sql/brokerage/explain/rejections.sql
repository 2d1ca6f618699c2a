-- A run in a table: the rejections by each rule.
create or replace view brokerage.rejections as
select d.setup, d.run_id, d.rule, f.criteria, count(*) as pairs, count(distinct d.task_id) as tasks,
       count(distinct d.queue) as queues
  from brokerage.decision d
  join brokerage.run r on r.setup = d.setup and r.run_id = d.run_id
  left join brokerage.rule_in_force f on f.profile = r.profile and f.algorithm = r.algorithm and f.rule = d.rule
 where d.verdict = 'r'
 group by d.setup, d.run_id, d.rule, f.criteria;

comment on view brokerage.rejections is 'Rejections of each run by rule: how many pairs, tasks and queues.';
comment on column brokerage.rejections.pairs is 'Pairs of task and queue.';
comment on column brokerage.rejections.tasks is 'Tasks that lost a queue by it.';
comment on column brokerage.rejections.queues is 'Queues that lost a task by it.';
