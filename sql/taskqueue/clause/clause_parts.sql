-- CLAUSES.md, Clauses: reads one clause in its JSON form.
create or replace function taskqueue.clause_parts(p_setup text, p_place text, p_clause jsonb, p_atom int)
returns taskqueue.clause_part[]
language plpgsql stable as $$
declare
  v_parts taskqueue.clause_part[] := '{}'::taskqueue.clause_part[];
  v_part taskqueue.clause_part;
  v_key text;
  v_value jsonb;
  v_name text;
  v_texts text[];
begin
  for v_key, v_value in select e.key, e.value from jsonb_each(p_clause) e loop
    if v_key = 'Attributes' then
      if jsonb_typeof(v_value) <> 'object' then
        raise exception '%Attributes is %, which is not an object', p_place, resource.shown(v_value)
          using errcode = 'PB001', hint = 'Give an object such as {"glibc": {"min": "2.28"}}.';
      end if;
      for v_name, v_value in select e.key, e.value from jsonb_each(v_value) e loop
        v_parts := v_parts || taskqueue.attribute_parts(p_setup, p_place || v_key, v_name, v_value, p_atom);
      end loop;
    elsif v_key in ('Sites', 'Tags', 'NoTags') then
      v_texts := taskqueue.text_set(p_place || v_key, v_value);
      if v_key = 'Sites' and taskqueue.includes_any(v_texts) then
        return null;
      elsif cardinality(v_texts) > 1000 then
        perform taskqueue.require_within(p_setup, 'most_names', p_place || v_key, cardinality(v_texts));
      end if;
      foreach v_name in array v_texts loop
        v_part := row(p_atom, case v_key when 'Sites' then 'site' else 'tag' end,
                      case v_key when 'Sites' then '' else v_name end, 'fails',
                      case v_key when 'Sites' then v_name when 'Tags' then '+' else '-' end, null, false, null, false);
        v_parts := v_parts || v_part;
      end loop;
    else
      raise exception '%: unknown key % (value %)', rtrim(p_place, '.'), left(v_key, 100), resource.shown(v_value)
        using errcode = 'PB001', hint = 'A clause has the keys Tags, NoTags, Sites and Attributes.';
    end if;
  end loop;
  return v_parts;
end $$;

comment on function taskqueue.clause_parts(text, text, jsonb, int) is
  'The parts of a clause, one of which must hold; null if it names the site any, and always holds. p_place is put '
  'before keys in errors. Errors: PB001.';
