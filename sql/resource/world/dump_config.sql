-- See worlds.md, Configuration keys.
create or replace function resource.dump_config(p_setup text) returns setof jsonb
language plpgsql stable security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify(p_setup);
  return query
  select jsonb_strip_nulls(jsonb_build_object(
           'app', c.app, 'component', nullif(c.component, ''), 'key', c.key, 'value', c.value, 'setup', c.setup,
           'forced', case when not exists (select from resource.known_key(c.component, c.key)) then true end))
    from resource.config c
   where c.setup = p_setup
      or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
   order by c.app collate "C", c.component collate "C", c.key collate "C", c.setup nulls first;
end $$;

comment on function resource.dump_config(text) is
  'The configuration of a setup, and the configuration for all setups (without a setup), as rows {app, component, key, '
  'value, setup, forced}. forced marks keys that no rule reads. Errors: PB001, PB002 (setup not granted).';
