create or replace function resource.set_config(
  p_setup text, p_key text, p_value jsonb, p_component text default null, p_app text default null,
  p_force boolean default false
) returns void
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  perform resource.put_config(p_setup, p_key, p_value, p_component, p_app, p_force);
end $$;

comment on function resource.set_config(text, text, jsonb, text, text, boolean) is
  'Sets a key of gdpconfig for a setup, for one component (p_component, or component:KEY) or for every component; null '
  'removes the key. A key that no rule reads, or a number below 0 that no rule expects, is refused unless it is '
  'forced. Names have at most 200 bytes. Errors: PB001, PB002 (setup not granted).';
