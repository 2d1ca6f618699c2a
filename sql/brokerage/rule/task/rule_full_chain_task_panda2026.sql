-- See full-chain.md, full-chain-task.
create or replace function brokerage.rule_full_chain_task_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when p.is_preassigned then null
    when q.bare_nucleus = 'only' and t.full_chain is null then 'bareNucleus is only, and the task is no full chain'
    when t.full_chain in (1, 2) and q.bare_nucleus is null
    then format('fullChain is %s, bareNucleus is not set', case t.full_chain when 1 then 'only' else 'require' end)
    when t.full_chain is not null and t.parent_full_chain is not null and t.parent_nucleus_mode is not null
         and q.queue <> t.parent_nucleus
    then format('its parent is at the bare nucleus %s', t.parent_nucleus)
  end
$$;

comment on function brokerage.rule_full_chain_task_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'full-chain-task of panda2026: full chains need bare nuclei, and the nucleus of the parent.';
