-- See full-chain.md, full-chain-task.
create or replace function brokerage.rule_full_chain_task(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when p.is_preassigned then null
    when t.full_chain = 3 and t.parent_nucleus_mode is not null
    then case when q.queue <> t.parent_nucleus then format('its parent is at the bare nucleus %s', t.parent_nucleus) end
    when t.full_chain = 1
    then case when q.bare_nucleus is distinct from 'only'
              then format('fullChain is only, bareNucleus is %s', coalesce(q.bare_nucleus, 'not set')) end
    when t.full_chain = 2 then case when q.bare_nucleus is null then 'fullChain is require, bareNucleus is not set' end
    when q.bare_nucleus = 'only'
    then 'bareNucleus is only, and '
         || case when t.full_chain = 3 then 'fullChain is capable, which is ignored: no parent of it is '
                                            'at a bare nucleus' else 'the task is no full chain' end
  end
$$;

comment on function brokerage.rule_full_chain_task(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'full-chain-task: a nucleus with bareNucleus=only takes only full chains; tasks whose fullChain is only, require or '
  'capable need a nucleus that the documentation allows for this value.';
