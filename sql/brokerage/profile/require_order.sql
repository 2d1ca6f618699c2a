-- Rules must have an order that can be composed: candidates first, weights together, the choice by weight last.
create or replace function brokerage.require_order(
  p_rule brokerage.profile_rule, p_rules_before boolean, p_weights_before boolean, p_chosen_by text
) returns void
language plpgsql immutable as $$
begin
  if p_rule.kind = 'candidate' and p_rules_before then
    raise exception 'rule % of profile % is of kind candidate and comes after rules of other kinds',
      p_rule.rule, p_rule.profile
      using errcode = 'PB001', hint = 'Candidates come first: give the rule a lower position.';
  elsif p_rule.kind = 'weight' and p_weights_before then
    raise exception 'weight % of profile % comes after rules that read the weight', p_rule.rule, p_rule.profile
      using errcode = 'PB001', hint = 'Keep weights together: give this one a lower position.';
  elsif p_chosen_by is not null and p_rule.kind not in ('distribution', 'end') then
    raise exception 'rule % of profile % comes after rule %, which chooses by weight', p_rule.rule,
      p_rule.profile, p_chosen_by
      using errcode = 'PB001', hint = 'The choice by weight is the last of the rules: give this one a lower position.';
  elsif p_rule.kind = 'choice' and (p_rule.parameters -> 'draw') is distinct from 'true'
        and coalesce(jsonb_typeof(p_rule.parameters -> 'best'), '') <> 'number' then
    raise exception 'rule % of profile %: parameter best is %', p_rule.rule, p_rule.profile,
      coalesce(p_rule.parameters ->> 'best', 'missing')
      using errcode = 'PB001', hint = 'Give the number of queues that are kept: {"best": 10}.';
  end if;
end $$;

comment on function brokerage.require_order(brokerage.profile_rule, boolean, boolean, text) is
  'Refuses a rule at a position where it cannot be composed, or a choice without the number that it keeps. Errors: '
  'PB001.';
