create or replace view brokerage.rejections as
select d.setup, d.run_id, d.rule, w.criteria, count(*) as pairs, count(distinct d.task_id) as tasks,
       count(distinct d.queue) as queues
  from brokerage.decision d
 cross join lateral brokerage.split_reason(d.reason) w
 where d.verdict = 'r' and (d.setup = (select resource.bound_setup())) is not false
 group by d.setup, d.run_id, d.rule, w.criteria;

comment on view brokerage.rejections is
  'Rejections of each run by rule and criteria tag, with the numbers of pairs, tasks and queues.';
comment on column brokerage.rejections.criteria is 'PanDA''s criteria tag of the rejections; null if there is none.';
comment on column brokerage.rejections.pairs is 'Number of pairs of task and queue.';
comment on column brokerage.rejections.tasks is 'Number of tasks that lost a queue by this rule.';
comment on column brokerage.rejections.queues is 'Number of queues that lost a task by this rule.';
