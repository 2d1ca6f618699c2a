-- A reason may begin with a criteria tag of its own, '-lowmemory: needs ...'; else the tag of the rule counts.
create or replace function brokerage.split_reason(p_reason text, p_criteria text, out criteria text, out reason text)
language sql immutable parallel safe as $$
  select case when p_reason ~ '^[-+][A-Za-z0-9_]+: ' then split_part(p_reason, ': ', 1) else p_criteria end,
         case when p_reason ~ '^[-+][A-Za-z0-9_]+: ' then substr(p_reason, strpos(p_reason, ': ') + 2) else p_reason end
$$;

comment on function brokerage.split_reason(text, text) is
  'Criteria tag and words of a stored reason; the tag of the rule if the reason has none of its own.';
