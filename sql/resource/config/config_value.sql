-- See conventions.md, Configuration lookup. The function is in plpgsql because all versions then keep its plans: a run
-- looks up sixty keys. The plans are kept even if the caller sets custom plans (brokerage.facts_by_subject), because
-- planning took 2 ms per call.
create or replace function resource.config_value(p_setup text, p_app text, p_component text, p_key text) returns jsonb
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_value jsonb;
  v_known record;
begin
  select c.value into v_value
    from resource.config c
   where c.app = p_app and c.key = p_key and c.component in (p_component, '')
     and (c.setup = p_setup
          or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone))
   order by c.component desc, c.setup nulls last limit 1;
  if v_value is null or v_value = '0' then
    select k.default_value, k.zero_is_default into v_known
      from resource.config_key k
     where k.app = p_app and k.component = p_component and k.key = p_key;
    if not found then
      select k.default_value, k.zero_is_default into v_known
        from resource.config_key k
       where k.app = p_app and k.component = p_component and k.key like '%<%' and p_key ~ k.pattern
       order by length(k.key) desc limit 1;
    end if;
    if v_value is null or v_known.zero_is_default then
      return v_known.default_value;
    end if;
  end if;
  return v_value;
end $$;

comment on function resource.config_value(text, text, text, text) is
  'The value of configuration that holds for a key of a component in a setup: the value that is set, else the default '
  'of resource.config_key, else null. A value for the component precedes one for all components, and a value for the '
  'setup precedes one for all setups.';
