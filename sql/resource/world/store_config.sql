-- See worlds.md, Configuration keys.
create or replace function resource.store_config(p_setup text, p_rows jsonb, p_lenient boolean default false)
returns text[]
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_row record;
  v_left_out text[] := '{}'::text[];
  v_alone boolean := coalesce((select s.alone from resource.setup s where s.setup = p_setup), false)
                     or resource.bound_setup() is not null;
begin
  perform resource.identify(p_setup);
  perform resource.check_keys('configuration', p_rows, '{"app": "a text", "component": "a text", "key": "a text",
    "value": "JSON", "setup": "a text", "everywhere": "true or false", "forced": "true or false"}');
  for v_row in
    select r.app, coalesce(r.component, '') as component, r.key, r.value, coalesce(r.everywhere, false) as everywhere,
           coalesce(r.forced, false) as forced
      from jsonb_to_recordset(p_rows) r(app text, component text, key text, value jsonb,
                                        everywhere boolean, forced boolean)
  loop
    if p_lenient and not v_row.forced and not exists (select from resource.known_key(v_row.component, v_row.key)) then
      v_left_out := v_left_out || concat_ws(':', nullif(v_row.component, ''), v_row.key);
    else
      perform resource.require_setup(p_setup);
      perform resource.put_config(case when v_alone or not v_row.everywhere then p_setup end, v_row.key, v_row.value,
                                  v_row.component, v_row.app, v_row.forced);
    end if;
  end loop;
  return v_left_out;
end $$;

comment on function resource.store_config(text, jsonb, boolean) is
  'Sets the configuration values of an array of {app, component, key, value, everywhere, forced}. Everywhere means the '
  'setup alone if it is isolated, or if the caller uses the service. An unknown key is refused; with p_lenient it is '
  'left out and returned. Errors: PB001, PB002 (setup not granted).';
