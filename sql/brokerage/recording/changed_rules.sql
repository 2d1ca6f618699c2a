-- The rules of a replay are the recorded ones, or those of a profile with the same base, with some changes.
create or replace function brokerage.changed_rules(
  p_rules brokerage.profile_rule[], p_changes jsonb, p_without text[]
) returns brokerage.profile_rule[]
language plpgsql stable as $$
declare
  v_rule brokerage.profile_rule;
  v_changed brokerage.profile_rule[] := '{}'::brokerage.profile_rule[];
begin
  foreach v_rule in array p_rules loop
    if p_changes ? v_rule.rule then
      v_rule.parameters := v_rule.parameters || (p_changes -> v_rule.rule);
      perform brokerage.require_parameters(v_rule);
    end if;
    v_rule.enabled := v_rule.enabled and v_rule.rule = any (p_without) is not true;
    v_changed := v_changed || v_rule;
  end loop;
  return v_changed;
end $$;

comment on function brokerage.changed_rules(brokerage.profile_rule[], jsonb, text[]) is
  'Changes parameters of rules (an object of objects: {"memory": {"share": 1.1}}) and leaves out some rules. Errors: '
  'PB001 (a parameter that no rule reads, or a value that it cannot read).';
