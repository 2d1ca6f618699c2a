-- With the parameter if_holds, a factor counts only if the set rules of that group hold for the task
-- (task-locality-disable leaves out the factors of data).
create or replace function brokerage.compose_factor(p_rule brokerage.profile_rule, p_number int, p_ignored jsonb)
returns text
language plpgsql immutable as $$
declare
  v_group text := p_rule.parameters ->> 'if_holds';
begin
  if v_group is null then
    return format('x.factors[%s]', p_number);
  elsif not p_ignored ? v_group then
    raise exception 'weight % of profile %: no set rules of group % come before it', p_rule.rule, p_rule.profile,
      quote_literal(v_group)
      using errcode = 'PB001', hint = 'if_holds names the parameter group of set rules with a lower position.';
  end if;
  return format('case when %s then 1 else x.factors[%s] end', p_ignored ->> v_group, p_number);
end $$;

comment on function brokerage.compose_factor(brokerage.profile_rule, int, jsonb) is
  'SQL of a factor of the weight behind the set rules. Errors: PB001 (no such group).';
