-- This defines the order of the candidates of a task for every ranking: used queues first (used-sites-first), then
-- queues of weight 0 if the choice has zero_first (bootstrap), then by weight, then by name.
create or replace function brokerage.compose_place(
  p_choice brokerage.profile_rule, p_used_first boolean, p_partition text
) returns text
language sql immutable as $$
  select format('row_number() over (partition by %s order by %s)', p_partition,
                concat_ws(', ', case when p_used_first then 'x.first desc nulls last' end,
                          case when ((p_choice).parameters ->> 'zero_first')::boolean then 'x.weight <> 0' end,
                          'x.weight desc nulls last', 'x.queue collate "C"'))
$$;

comment on function brokerage.compose_place(brokerage.profile_rule, boolean, text) is
  'SQL of the place of a candidate among those of its task, from 1: by x.first if used queues come first, then '
  'x.weight and x.queue.';
