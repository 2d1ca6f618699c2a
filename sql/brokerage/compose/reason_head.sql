-- Reasons with the same beginning (brokerage.reason_prefix) are tested once.
create or replace function brokerage.reason_head(p_reason text) returns text
language sql immutable parallel safe
return split_part(p_reason, ': ', 1) || ': ';

comment on function brokerage.reason_head(text) is
  'The beginning of a reason, ''rule<tab>reason'', with the tag of its rule if it has one; this beginning '
  'distinguishes rules.';
