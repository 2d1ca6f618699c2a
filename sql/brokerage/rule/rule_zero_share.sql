-- brokerage-doc-profile 4.1: which sub-policy decides is a fact.
create or replace function brokerage.rule_zero_share(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when p.zero_share is not null then format('zero share by fairsharepolicy: %s', p.zero_share) end
$$;

comment on function brokerage.rule_zero_share(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'zero-share: the fair share policy of the queue leaves something for the task.';
