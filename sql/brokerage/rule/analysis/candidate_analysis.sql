-- See analysis-candidates.md, anal-initial. PanDA's code also takes grandly_unified queues and the queues that the
-- task's site names.
create or replace function brokerage.candidate_analysis(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when q.type in ('analysis', 'unified')
         or (x ->> 'code')::boolean and (q.attributes ? 'grandly_unified' or p.is_preassigned)
    then null
    else format('type is %s, not analysis or unified', coalesce(q.type, 'not set'))
  end
$$;

comment on function brokerage.candidate_analysis(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'anal-initial: queues of type analysis or unified are candidates. Parameter code (boolean): grandly_unified queues '
  'and pre-assigned queues are candidates as well, as in PanDA''s code.';
