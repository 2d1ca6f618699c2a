-- See task-brokerage.md, task-job-check. The parameters are read where the check is made, in brokerage.with_job_check.
create or replace function brokerage.rule_task_job_check(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when not p.is_preassigned and t.runnable_at is not null and not t.runnable_at ? q.queue
              then 'no queue there could run its jobs' end
$$;

comment on function brokerage.rule_task_job_check(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'task-job-check: some queue of the nucleus could run the jobs of the task. Parameters: last (text, the last rule of '
  'the job broker that is applied), without (the rules that are left out).';
