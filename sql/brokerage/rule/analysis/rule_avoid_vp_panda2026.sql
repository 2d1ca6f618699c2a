-- See analysis-candidates.md, avoid-vp. These queues are also left out of the union of queues and of a second pass.
create or replace function brokerage.rule_avoid_vp_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.has_vp_input is not true then null
    when t.avoid_vp then 'the task avoids queues of virtual placement'
    when t.is_merging then 'merge jobs avoid queues of virtual placement'
    when t.is_distributed then 'distributed input: queues of virtual placement are avoided'
    when t.second_pass or p.input_copies is null
    then 'no queue has all of the input: queues of virtual placement are avoided'
  end
$$;

comment on function brokerage.rule_avoid_vp_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'avoid-vp of panda2026: a queue of virtual placement is rejected if the task avoids such queues, or if its input is '
  'not available as a whole.';
