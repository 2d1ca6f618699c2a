-- gdpconfig as a run reads it: looked up once, not once a task. Keys that rules know have their defaults; keys that somebody forced are there too.
create or replace function resource.configuration(p_setup text) returns jsonb
language sql stable
as $$
  select coalesce(jsonb_object_agg(c.component, c.keys), '{}')
    from (select v.component, jsonb_object_agg(v.key, v.value) as keys
            from (select k.component, k.key, resource.config_value(p_setup, k.app, k.component, k.key) as value
                    from resource.config_key k
                   where k.key not like '%<%'
                  union all
                  select h.component, h.key, h.value
                    from resource.config_of(p_setup) h
                   where not exists (select from resource.config_key k where k.app = h.app and k.component = h.component and k.key = h.key)) v
           group by v.component) c
$$;

comment on function resource.configuration(text) is
'All configuration that holds in a setup: {component: {KEY: value}}, defaults included; keys that hold for every component under the empty name. Keys by share or workflow are looked up with resource.config_value.';
