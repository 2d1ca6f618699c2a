-- See conventions.md, Configuration lookup. An isolated setup has only its own rows.
create or replace function resource.config_of(p_setup text)
returns table (app text, component text, key text, value jsonb)
language plpgsql stable security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  return query
  select distinct on (c.app, c.component, c.key) c.app, c.component, c.key, c.value
    from resource.config c
   where c.setup = p_setup
      or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
   order by c.app, c.component, c.key, c.setup nulls last;
end $$;

comment on function resource.config_of(text) is
  'The values of configuration that are set and that hold in a setup: its own rows, and for other keys the rows that '
  'hold for all setups. Errors: PB001, PB002 (setup not granted).';
