create or replace function brokerage.call_on(p_call text, p_facts text) returns text
language sql immutable
return overlay(p_call placing p_facts from position('(t, q, p' in p_call) + 1 for 7);

comment on function brokerage.call_on(text, text) is
  'The call of a rule from brokerage.plan_steps, with other expressions in place of the facts t, q, p.';
