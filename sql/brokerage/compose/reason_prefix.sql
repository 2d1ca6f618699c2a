-- A reason contains the tag of its rule, so that a run shows its tags even if its profile has changed or is gone.
create or replace function brokerage.reason_prefix(p_rule text, p_criteria text, p_parameters jsonb) returns text
language sql immutable parallel safe as $$
  select coalesce(p_parameters ->> 'as', p_rule) || E'\t' || coalesce(p_criteria || ': ', '')
$$;

comment on function brokerage.reason_prefix(text, text, jsonb) is
  'The text before the answer of a rule in the composed query: its id in decisions, a tabulator, and its criteria tag '
  'with a colon if the rule has one.';
