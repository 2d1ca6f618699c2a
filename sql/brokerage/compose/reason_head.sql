-- The query tests reasons with the same beginning (brokerage.reason_prefix) once.
create or replace function brokerage.reason_head(p_reason text) returns text
language sql immutable parallel safe
return split_part(p_reason, ': ', 1) || ': ';

comment on function brokerage.reason_head(text) is
  'The beginning of a reason ''rule<tab>reason'', with the tag of its rule if there is one; it differs from rule to '
  'rule.';
