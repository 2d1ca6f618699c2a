-- See software-check.md, gpu-queue.
create or replace function brokerage.rule_gpu_queue(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when (q.attributes ? 'gpu') is not true or t.hpo_workflow then null
    when t.has_platform is not true then 'a queue of GPUs, the task names no platform'
    else p.software
  end
$$;

comment on function brokerage.rule_gpu_queue(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'gpu-queue: a queue flagged gpu takes only tasks whose platform and hardware fit the published values of the queue.';
