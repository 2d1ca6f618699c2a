-- Seed 000, ATLAS Analysis Job Brokerage, 2. PanDA's code takes grandly_unified queues and those
-- that the task's site names, too.
create or replace function brokerage.candidate_analysis(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe
as $$
  select case
    when q.type in ('analysis', 'unified')
         or (x ->> 'code')::boolean and (q.attributes ? 'grandly_unified' or p.is_preassigned)
    then null
    else format('type is %s, not analysis or unified', coalesce(q.type, 'not set'))
  end
$$;

comment on function brokerage.candidate_analysis(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'anal-initial: queues of analysis or unified type are candidates. Parameter code (boolean): as PanDA''s code, '
  'grandly_unified and pre-assigned ones, too.';
