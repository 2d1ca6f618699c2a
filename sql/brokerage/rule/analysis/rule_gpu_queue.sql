-- See software-check.md, gpu-queue. A problem with a tag is about container, release or platform, and the rule compares
-- none of them (brokerage.software_problems).
create or replace function brokerage.rule_gpu_queue(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when (q.attributes ? 'gpu') is not true or t.hpo_workflow then null
    when t.has_platform is not true then 'a queue of GPUs, the task names no platform'
    when p.software like '-%' then null
    when p.software is null and q.releases_any then 'a queue of GPUs, its releases are ANY'
    else p.software
  end
$$;

comment on function brokerage.rule_gpu_queue(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'gpu-queue: a queue flagged gpu takes only tasks whose platform and hardware fit the published values of the queue.';
