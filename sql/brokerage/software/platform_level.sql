create or replace function brokerage.platform_level(p_architecture text) returns text
language sql stable as $$
  select case when ltrim(p_architecture, E' \t\r\n') like '{%'
              then brokerage.read_architecture(p_architecture, 'panda2026') ->> 'level' end
$$;

comment on function brokerage.platform_level(text) is
  'The architecture level that a task prefers: cpu_pref.preferred_architecture_level of an architecture in JSON; null '
  'if there is none or it cannot be read.';
