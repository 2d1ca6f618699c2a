-- An unknown key is refused, since it would change nothing without anybody noticing.
create or replace function resource.put_config(
  p_setup text, p_key text, p_value jsonb, p_component text, p_app text, p_force boolean
) returns void
language plpgsql as $$
declare
  v_component text;
  v_key text;
  v_value jsonb := nullif(p_value, 'null');
  v_type text := replace(jsonb_typeof(v_value), 'string', 'text');
  v_known record;
  v_app text;
  v_is_set boolean;
begin
  perform resource.require_short(k.key, k.text, 200)
     from (values ('key', p_key), ('component', p_component), ('app', p_app)) k(key, text);
  v_component := coalesce(p_component, substring(p_key from '^([^:]+):.'), '');
  v_key := case when p_component is null then regexp_replace(p_key, '^[^:]+:(.)', E'\\1') else p_key end;
  select k.* into v_known from resource.known_key(v_component, v_key) k;
  v_is_set := exists (select from resource.config c
                       where c.setup is not distinct from p_setup and c.component = v_component and c.key = v_key);
  if v_known.key is null and (p_force is not true or coalesce(v_key, '') = '')
     and not (v_is_set and v_value is null) then
    raise exception 'configuration key % is not known',
      coalesce(quote_literal(concat_ws(':', nullif(v_component, ''), v_key)), 'null')
      using errcode = 'PB001', hint = resource.nearest_key(v_component, coalesce(v_key, ''));
  elsif v_type <> v_known.type or v_type not in ('number', 'text', 'boolean') then
    raise exception 'configuration % is %, not a %', v_key, resource.shown(p_value),
      coalesce(v_known.type, 'number, text or boolean')
      using errcode = 'PB001', hint = coalesce(v_known.meaning || ' Unit: ' || v_known.unit || '.', 'Null removes it.');
  elsif v_type = 'number' and v_known.unit not in ('weight', 'priority') and p_force is not true
        and v_value::numeric < 0 then
    raise exception 'configuration % is %, not 0 or more', v_key, v_value
      using errcode = 'PB001', hint = v_known.meaning || ' Unit: ' || v_known.unit || '.';
  elsif v_type = 'number' and v_value <> '0'
        and abs(v_value::numeric) not between 1e-15
        and (case v_known.unit when 'h' then 1e6 when 'days' then 4e4 else 1e15 end) then
    raise exception 'configuration % is %, which is out of range', v_key, resource.shown(v_value)
      using errcode = 'PB001', hint = 'A number is 0, or within 1e-15 and 1e15; a time is at most a million hours.';
  end if;
  v_app := coalesce(p_app, v_known.app, 'jedi');
  if v_value is null then
    delete from resource.config c
     where c.setup is not distinct from p_setup and c.app = v_app and c.component = v_component and c.key = v_key;
  else
    insert into resource.config (setup, app, component, key, value)
    values (p_setup, v_app, v_component, v_key, v_value)
    on conflict on constraint config_once do update
       set value = excluded.value;
  end if;
end $$;

comment on function resource.put_config(text, text, jsonb, text, text, boolean) is
  'Sets a key of gdpconfig for a setup. With a null setup the value is for all setups that have none of their own; a '
  'null value removes the key. Errors: PB001.';
