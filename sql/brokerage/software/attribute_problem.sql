create or replace function brokerage.attribute_problem(
  p_kind text, p_wanted jsonb, p_published jsonb, p_base_profile text
) returns text
language plpgsql stable as $$
declare
  v_key text;
  v_value text;
  v_problems text[] := '{}'::text[];
begin
  for v_key in
    select jsonb_object_keys(case p_base_profile when 'documented' then p_wanted || p_published else p_wanted end)
     order by 1
  loop
    v_value := coalesce(p_wanted ->> v_key, '*');
    if not brokerage.accepts_attribute(p_published -> v_key, v_value, v_key = 'arch', p_base_profile) then
      v_problems := v_problems || brokerage.attribute_text(p_kind || ' ' || v_key, v_value, p_published -> v_key);
    end if;
  end loop;
  return nullif(array_to_string(v_problems, ', '), '');
end $$;

comment on function brokerage.attribute_problem(text, jsonb, jsonb, text) is
  'The part of a requirement (attribute to value, * = not asked) that the lists of one published dictionary do not '
  'meet; null if there is none. Base profile: documented or panda2026.';
