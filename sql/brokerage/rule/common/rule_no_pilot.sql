-- See production-load.md, no-pilot. The rule rejects if there was no request in the last 3 h, or if there is no record.
create or replace function brokerage.rule_no_pilot(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case when coalesce(q.pilots, 0) = 0
                   and not coalesce((x ->> 'spares_test')::boolean and t.label = 'test', false)
              then 'no pilot in the last 3 h' end
$$;

comment on function brokerage.rule_no_pilot(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'no-pilot: pilots asked for jobs at the queue in the last 3 h. Parameter spares_test (boolean): tasks of label test '
  'are exempt.';
