-- One query looks up all known keys, as resource.config_value does for one, and the keys that were forced. The function
-- is in plpgsql because all versions then keep its plan.
create or replace function resource.configuration(p_setup text) returns jsonb
language plpgsql stable as $$
begin
  return (
    with held as materialized (
      select distinct on (c.app, c.component, c.key) c.app, c.component, c.key, c.value, c.setup is null as is_general
        from resource.config c
       where c.setup = p_setup
          or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
       order by c.app, c.component, c.key, c.setup nulls last
    ), known as (
      select distinct on (k.component, k.key) k.component, k.key,
             case when h.value is null or h.value = '0' and k.zero_is_default then k.default_value
                  else h.value end as value
        from resource.config_key k
        left join held h on h.app = k.app and h.key = k.key and h.component in (k.component, '')
       where k.key not like '%<%'
       order by k.component, k.key, h.component desc nulls last
    )
    select coalesce(jsonb_object_agg(c.component, c.keys), '{}'::jsonb)
      from (select v.component, jsonb_object_agg(v.key, v.value) as keys
              from (select n.component, n.key, n.value from known n
                    union all
                    select h.component, h.key, h.value from held h
                     where not exists (select from known n where n.component = h.component and n.key = h.key)) v
             group by v.component) c);
end $$;

comment on function resource.configuration(text) is
  'All configuration that holds in a setup, defaults included: {component: {KEY: value}}; keys for every component are '
  'under the empty name. resource.config_value looks up keys by share or workflow.';
