-- A function that comes with the program reads the parameters of the shipped rules with this function, with the same
-- types. brokerage.weight_free_places is in no shipped rule (analysis-weights.md, new-weight-of-the-documentation: off
-- by default), so its parameters are listed here. Other functions may read any parameter.
create or replace function brokerage.require_parameters(p_rule brokerage.profile_rule) returns void
language plpgsql stable as $$
declare
  v_known jsonb := (select jsonb_object_agg(k.key, k.type)
                      from (select distinct e.key, jsonb_typeof(e.value) as type
                              from brokerage.shipped_rule s
                             cross join jsonb_each(s.parameters) e(key, value)
                             where s.function = p_rule.function
                                or s.function is null and p_rule.function is null and s.kind = p_rule.kind
                            union
                            select v.key, v.type
                              from (values ('as', 'string'), ('sees_assignments', 'boolean')) v(key, type)
                             where p_rule.function is not null
                            union
                            select v.key, v.type
                              from (values ('epsilon_1', 'number'), ('epsilon_2', 'number')) v(key, type)
                             where p_rule.function = 'brokerage.weight_free_places') k);
  v_key text;
  v_value jsonb;
  v_wanted text;
begin
  if p_rule.kind = 'weight' and p_rule.parameters -> 'sees_assignments' = 'true' and brokerage.weighs_terms(p_rule) then
    raise exception 'rule % of profile %: parameter sees_assignments is true, but % returns terms', p_rule.rule,
      p_rule.profile, p_rule.function
      using errcode = 'PB001', hint = 'Only a weight that returns float8 can see the assignments of the batch.';
  end if;
  if p_rule.function <> 'brokerage.weight_free_places'
     and not exists (select from brokerage.shipped_rule s where s.function = p_rule.function) then
    return;
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_rule.parameters) e(key, value) order by e.key loop
    v_wanted := null;
    if p_rule.kind = 'pending' then
      if v_key <> 'wait' and v_key !~ '^[0-9]{1,9}$' then
        v_wanted := 'known';
      elsif not brokerage.is_wait(v_value) then
        v_wanted := 'a time such as "30 minutes"';
      end if;
    elsif not coalesce(v_known ? v_key, false) then
      v_wanted := 'known';
    elsif jsonb_typeof(v_value) <> v_known ->> v_key then
      v_wanted := format('of type %s', v_known ->> v_key);
    elsif p_rule.kind = 'choice' and v_key = 'best'
          and (v_value::numeric < 1 or v_value::numeric > 1e6 or v_value::numeric % 1 <> 0) then
      v_wanted := 'a number of queues from 1 to 1000000';
    end if;
    if v_wanted is not null then
      raise exception 'rule % of profile %: parameter % is %, not %', p_rule.rule, p_rule.profile, v_key,
        resource.shown(v_value), v_wanted
        using errcode = 'PB001',
              hint = case when p_rule.kind = 'pending' then 'It reads wait, and for tasks from a priority on that '
                                                            'priority: {"wait": "1 hour", "900": "30 minutes"}.'
                          else coalesce(format('It reads %s.', (
                            select string_agg(k.key, ', ' order by k.key) from jsonb_object_keys(v_known) k(key))),
                                        'It reads none.') end;
    end if;
  end loop;
end $$;

comment on function brokerage.require_parameters(brokerage.profile_rule) is
  'Refuses a parameter that the function of a rule does not read, or a value that it cannot read. Errors: PB001.';
