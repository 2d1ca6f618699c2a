-- CLAUSES.md, Clauses. The program is in postfix order: +tag, -tag, #n for atom n, "true" for a condition that always
-- holds; & and | join the two before them. The conditions of p_given come first, then its alternatives.
create or replace function taskqueue.condition_program(
  p_setup text, p_given jsonb, out parts taskqueue.clause_part[], out program text[]
)
language plpgsql stable as $$
declare
  v_alternatives jsonb := coalesce(nullif(p_given -> 'Alternatives', 'null'), '[]');
  v_object jsonb := p_given;
  v_place text := '';  -- put before keys in errors
  v_key text;
  v_value jsonb;
  v_name text;
  v_item jsonb;
  v_new taskqueue.clause_part[];
  v_atom int := 0;
  v_length int := 0;  -- characters of all expressions
begin
  parts := '{}';
  program := '{true}';
  for v_key, v_value in select e.key, e.value from jsonb_each(p_given) e where e.key in ('Alternatives', 'Clauses') loop
    if jsonb_typeof(v_value) not in ('array', 'null') or v_value @? 'strict $[*] ? (@.type() != "object")' then
      raise exception '% is %, which is not a list of objects', v_key, resource.shown(v_value)
        using errcode = 'PB001', hint = 'An object has some of the keys Sites, Tags and Attributes.';
    elsif v_value <> 'null' and jsonb_array_length(v_value) > 200 then
      raise exception '% lists % objects, at most 200', v_key, jsonb_array_length(v_value)
        using errcode = 'PB001', hint = 'Sites is a list, one of which is enough, and TagExpression knows | (or).';
    end if;
  end loop;
  for v_number in 0..jsonb_array_length(v_alternatives) loop
    if v_number > 0 then
      v_object := v_alternatives -> v_number - 1;
      v_place := format('Alternatives[%s].', v_number - 1);
      program := program || 'true'::text;
    end if;
    for v_key, v_value in
      select e.key, e.value from jsonb_each(v_object) e
       where e.value not in ('null', '""', '{}', '[]')
         and (v_number > 0 or e.key in ('TagExpression', 'Attributes', 'Clauses'))
    loop
      if v_number > 0 and v_key not in ('Sites', 'Tags', 'TagExpression', 'Attributes') then
        raise exception '%: unknown key % (value %)', rtrim(v_place, '.'), left(v_key, 100), resource.shown(v_value)
          using errcode = 'PB001', hint = 'An alternative has the keys Sites, Tags, TagExpression and Attributes.';
      elsif jsonb_typeof(v_value) <> 'string' and v_key = 'TagExpression' then
        raise exception '%TagExpression is %, which is not a text', v_place, resource.shown(v_value)
          using errcode = 'PB001', hint = 'Give an expression such as "os:el9 | os:alma9 & ~test".';
      elsif jsonb_typeof(v_value) <> 'object' and v_key = 'Attributes' then
        raise exception '%Attributes is %, which is not an object', v_place, resource.shown(v_value)
          using errcode = 'PB001', hint = 'Give an object such as {"glibc": {"min": "2.28"}}.';
      elsif v_key = 'TagExpression' then
        v_length := v_length + length(v_value #>> '{}');
        if v_length > 10000 then
          raise exception '%TagExpression has % characters, at most 10000', v_place, v_length
            using errcode = 'PB001', hint = 'The expressions of all alternatives count together.';
        end if;
        program := program || coalesce(nullif(taskqueue.expression_postfix(v_place || v_key, v_value #>> '{}'), '{}')
                                       || '&'::text, '{}');
        continue;
      elsif v_key = 'Tags' then
        program := program || array(select u from unnest(taskqueue.text_set(v_place || v_key, v_value)) t,
                                                  unnest(array['+' || t, '&']) u);
        continue;
      end if;
      for v_name, v_item in
        select e.key, e.value
          from jsonb_each(case v_key when 'Attributes' then v_value when 'Sites' then jsonb_build_object('', v_value)
                                     else '{}' end) e
        union all
        select format('Clauses[%s].', c.number - 1), c.clause
          from jsonb_array_elements(case v_key when 'Clauses' then v_value end) with ordinality c(clause, number)
      loop
        v_new := case when v_key = 'Clauses' then taskqueue.clause_parts(p_setup, v_name, v_item, v_atom + 1)
                      when v_key = 'Sites'
                      then taskqueue.clause_parts(p_setup, v_place, jsonb_build_object(v_key, v_item), v_atom + 1)
                      when v_item not in ('null', '[]')
                      then taskqueue.attribute_parts(p_setup, v_place || v_key, v_name, v_item, v_atom + 1) end;
        if v_new = '{}' then
          raise exception '% is %, which nothing can meet', rtrim(v_name, '.'), v_item
            using errcode = 'PB001', hint = 'A clause lists parts, one of which must hold.';
        elsif cardinality(parts) + cardinality(v_new) > 2000 then
          raise exception '% makes % values, at most 2000', v_place || v_key, cardinality(parts) + cardinality(v_new)
            using errcode = 'PB001', hint = 'Use fewer alternatives, or shorter lists.';
        elsif v_new is not null then
          v_atom := v_atom + 1;
          parts := parts || v_new;
          program := program || array['#' || v_atom, '&'];
        end if;
      end loop;
    end loop;
    program := program || case when v_number > 1 then '{|}'::text[] else '{}' end;
  end loop;
  program := program || case when v_alternatives <> '[]' then '{&}'::text[] else '{}' end;
end $$;

comment on function taskqueue.condition_program(text, jsonb) is
  'Reads TagExpression, Attributes, Clauses and Alternatives: the atoms, each with its parts, and the conditions as a '
  'program in postfix order. Errors: PB001, naming key and value.';
