-- after: brokerage.rule_in_force, brokerage.decision
-- Why did my task not go there: a select. One row a task and queue of each run that is kept.
create or replace view monitor.decision as
select d.setup, d.run_id, r.algorithm, r.profile, r.dry, d.task_id, d.queue,
       case d.verdict when 'c' then 'candidate' when 'r' then 'rejected' else 'not candidate' end as verdict,
       d.rank, d.weight, d.rule, w.criteria, w.reason, a.jobs, d.decided_at
  from brokerage.task_decision t  -- found by task first: decisions are indexed by run and task
  join brokerage.decision d on d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id
  join brokerage.run r on r.setup = d.setup and r.run_id = d.run_id
  left join brokerage.rule_in_force f on f.profile = r.profile and f.algorithm = r.algorithm and f.rule = d.rule
 cross join lateral brokerage.worded(d.reason, f.criteria) w
  left join brokerage.assignment a on a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id and a.queue = d.queue;

comment on view monitor.decision is 'What each run decided for each task and queue: candidates with rank, weight and jobs assigned, rejections with rule, PanDA''s criteria tag and reason.';
comment on column monitor.decision.setup is 'Tenant.';
comment on column monitor.decision.run_id is 'Run.';
comment on column monitor.decision.algorithm is 'production_job, analysis_job or production_task.';
comment on column monitor.decision.profile is 'Profile that decided.';
comment on column monitor.decision.dry is 'Nothing but decisions was stored.';
comment on column monitor.decision.task_id is 'Task.';
comment on column monitor.decision.queue is 'Queue, or pseudo-queue of a unified one.';
comment on column monitor.decision.verdict is 'candidate, rejected, or not candidate (it never entered the list).';
comment on column monitor.decision.rank is 'Place of a candidate, from 1.';
comment on column monitor.decision.weight is 'Weight, where it came that far.';
comment on column monitor.decision.rule is 'Rule that rejected it.';
comment on column monitor.decision.criteria is 'PanDA''s criteria tag.';
comment on column monitor.decision.reason is 'Why, with the numbers compared.';
comment on column monitor.decision.jobs is 'Jobs of the task assigned to it.';
comment on column monitor.decision.decided_at is 'When (the setup''s clock).';
