-- CLAUSES.md, Values: an offer holds the given values and the meaning of missing attributes, so that a test of a clause
-- reads the offer alone.
create or replace function taskqueue.attributes_offered(p_setup text, p_attributes jsonb) returns jsonb
language plpgsql stable as $$
declare
  v_given jsonb := coalesce(nullif(p_attributes, 'null'), '{}');
  v_name text;
  v_value jsonb;
  v_out jsonb := '{}'::jsonb;
begin
  if jsonb_typeof(v_given) <> 'object' then
    raise exception 'Attributes is %, which is not an object', resource.shown(p_attributes)
      using errcode = 'PB001', hint = 'Give the value of each attribute by its name: {"gpu.count": 1}.';
  end if;
  for v_name, v_value in select g.key, g.value from jsonb_each(v_given) g where g.value <> 'null' loop
    v_out := v_out || jsonb_build_object(
      v_name, taskqueue.offered_value(taskqueue.attribute_named(p_setup, 'Attributes', v_name), v_value));
  end loop;
  return nullif(v_out || coalesce((
    select jsonb_object_agg(a.name, case when a.absent = '"passes"' then 'null'
                                         else taskqueue.offered_value(a, a.absent -> 'value') end)
      from taskqueue.attribute a
     where a.setup = p_setup and a.absent <> '"fails"' and not v_out ? a.name), '{}'), '{}');
end $$;

comment on function taskqueue.attributes_offered(text, jsonb) is
  'The attributes of an offer, by the key Attributes of a resource description: numbers, versions (shortest form) and '
  'flags as they are, texts as lists; null for an absent attribute whose absence passes. Errors: PB001, naming '
  'attribute and value.';
