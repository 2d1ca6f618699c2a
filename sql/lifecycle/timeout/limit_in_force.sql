create or replace function lifecycle.limit_in_force(p_setup text, p_component text, p_key text) returns float8
language sql stable as $$
  select least(greatest(v.hours, 0), 1e6)
    from (select resource.number_or_null(
                   jsonb_build_object('value', resource.config_value(p_setup, 'pandaserver', p_component, p_key)),
                   'value') as hours) v
   where v.hours is not null
$$;

comment on function lifecycle.limit_in_force(text, text, text) is
  'Value of a key of pandaserver''s configuration in hours, 0 to 1e6; null if the key is not set or its value is not a '
  'number.';
