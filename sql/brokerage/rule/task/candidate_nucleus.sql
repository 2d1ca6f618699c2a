-- See task-brokerage.md, task-nucleus-list, and task-brokerage.md, task-preset-nucleus. Candidates are sites with a
-- queue of role nucleus; if a task already has its nucleus, only that nucleus. With the parameter satellites, sites
-- with a bareNucleus mode are also candidates of a full-chain task (task-brokerage.md, task-nucleus-initial).
create or replace function brokerage.candidate_nucleus(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when t.is_preset then case when not p.is_preassigned then format('the nucleus of the task is %s', t.nucleus) end
    when q.is_nucleus or (x ->> 'satellites')::boolean and t.full_chain is not null and q.bare_nucleus is not null
    then null
    else 'it has no queue of role nucleus'
  end
$$;

comment on function brokerage.candidate_nucleus(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'task-nucleus-list, task-preset-nucleus: decides which nuclei enter the list of a task. Parameter satellites '
  '(boolean).';
