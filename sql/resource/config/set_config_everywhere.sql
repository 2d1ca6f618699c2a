-- The function has no argument for a setup, so that a front sends its calls to all shards.
create or replace function resource.set_config_everywhere(
  p_key text, p_value jsonb, p_component text default null, p_app text default null, p_force boolean default false
) returns void
language sql security definer set search_path = resource, pg_temp as $$
  select resource.require_own('configuration for all setups', array(select s.setup from resource.setup s));
  select resource.put_config(null, p_key, p_value, p_component, p_app, p_force)
$$;

comment on function resource.set_config_everywhere(text, jsonb, text, text, boolean) is
  'Sets a key of gdpconfig for all setups that have no value of their own, as resource.set_config does for one setup; '
  'null removes the key. Errors: PB001, PB002 (through the service, if there is another setup).';
