-- The choice by weight keeps some candidates whatever their place is (analysis-weights.md, top-10): every queue if the
-- input is distributed, and queues that the task names.
create or replace function brokerage.compose_spared(p_choice brokerage.profile_rule, p_task text, p_pair text)
returns text
language sql immutable as $$
  select concat_ws(
    ' or ', 'false',
    case when ((p_choice).parameters ->> 'spares_distributed')::boolean
         then format('coalesce((%s).is_distributed, false)',
                     p_task) end,
    case when ((p_choice).parameters ->> 'spares_preassigned')::boolean
         then format('coalesce((%s).is_preassigned, false)',
                     p_pair) end)
$$;

comment on function brokerage.compose_spared(brokerage.profile_rule, text, text) is
  'SQL that tests, on the facts of task and pair, whether a choice by weight keeps a queue whatever its place. Its '
  'parameters: spares_distributed, spares_preassigned (boolean).';
