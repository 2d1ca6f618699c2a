-- CLAUSES.md, Clauses. A form is accepted only if making it from itself is accepted, too. A long list of clauses is
-- therefore tested once more. Thirteen are the fewest that could take more comparisons than are allowed.
create or replace function taskqueue.normal_clauses(p_setup text, p_given jsonb) returns jsonb
language plpgsql stable as $$
declare
  v_program text[];
  v_parts taskqueue.clause_part[];
  v_values taskqueue.clause_value[];
  v_tags text[] := array(select jsonb_array_elements_text(p_given -> 'Tags'));
  v_sites jsonb := nullif(p_given -> 'Sites', '[]');
  v_named text[];  -- tags of clauses
  v_atom int;
  v_literals int;
  v_variables bit varying[];
  v_closed bit varying[];
  v_clauses bit varying[];
  v_contradiction bit varying[];
  v_tests int;
  v_written jsonb[];
  v_clause jsonb;
  v_size int := 0;  -- values in the clauses, or more if a name has a comma
  v_rest jsonb[] := '{}'::jsonb[];
begin
  select c.parts, c.program into v_parts, v_program from taskqueue.condition_program(p_setup, p_given) c;
  v_named := array(select substr(t, 2) from unnest(v_program) t where t ~ '^[+-]'
                   union select p.name from unnest(v_parts) p where p.kind = 'tag');
  -- Tags and Sites take part where clauses name the same tag, or any site.
  if v_tags && v_named then
    v_program := v_program || array(select u from unnest(v_tags) t, unnest(array['+' || t, '&']) u
                                     where t = any (v_named));
    v_tags := array(select t from unnest(v_tags) t where t <> all (v_named));
  end if;
  if v_sites is not null and exists (select from unnest(v_parts) p where p.kind = 'site') then
    v_atom := v_parts[cardinality(v_parts)].atom + 1;
    v_parts := v_parts || taskqueue.clause_parts(p_setup, '', jsonb_build_object('Sites', v_sites), v_atom);
    v_program := v_program || array['#' || v_atom, '&'];
    v_sites := null;
  end if;
  v_values := array(select v from taskqueue.clause_values(v_parts, v_named[:65]) v);
  select coalesce(array_agg(v.bits) filter (where v.kind not in ('tag', 'many')), '{}'),
         coalesce(array_agg(v.bits) filter (where v.closes), '{}'), sum(v.literals) filter (where v.kind <> 'site')
    into v_variables, v_closed, v_literals
    from (select v.kind, overlay(repeat('0', cardinality(v_values)) placing repeat('1', count(*)::int)
                                 from min(v.place)::int)::bit varying as bits, bool_or(v.closes) as closes,
                 count(*) filter (where v.kind in ('text', 'many') or v.value not in ('-', 'false', '')) as literals
            from unnest(v_values) with ordinality v(kind, name, value, low, high, closes, place)
           group by v.kind, v.name) v;
  if v_literals > 64 then
    raise exception 'the conditions name over 64 tags and values of attributes: %',
      v_literals + greatest(cardinality(v_named) - 65, 0)
      using errcode = 'PB001', hint = 'Tags of the key Tags that no expression names do not count.';
  end if;
  select c.clauses, c.p_tests into v_clauses, v_tests
    from taskqueue.clauses_of_program(v_program, taskqueue.clause_bits(v_parts, v_values), cardinality(v_named),
                                      v_closed, 4 * cardinality(v_program) + 10 * cardinality(v_parts)) c;
  for v_round in 1..2 loop
    exit when v_clauses = '{}';
    select c.clauses, c.contradiction into v_clauses, v_contradiction
      from taskqueue.prime_clauses(v_clauses, cardinality(v_named), v_variables, v_closed, v_tests) c;
    if v_contradiction is not null then
      v_written := taskqueue.written_clauses(v_contradiction, v_values);
      raise exception 'the conditions cannot be met: they demand %, and %', taskqueue.clause_text(v_written[1]),
        taskqueue.clause_text(v_written[2])
        using errcode = 'PB001', hint = 'Both follow from Sites, Tags, TagExpression, Attributes and Alternatives.';
    end if;
    exit when cardinality(v_clauses) < 13;
    select array_agg(c order by c), sum(10 * bit_count(c) + 8) + count(*) * (count(*) - 1) / 2
      into v_clauses, v_tests
      from unnest(v_clauses) c;
  end loop;
  foreach v_clause in array taskqueue.written_clauses(v_clauses, v_values) loop
    if v_clause - 'Sites' = '{}' then
      v_sites := to_jsonb(array(select s from jsonb_array_elements_text(v_clause -> 'Sites') s order by s));
    elsif v_clause - 'Tags' = '{}' and jsonb_array_length(v_clause -> 'Tags') = 1 then
      v_tags := v_tags || (v_clause -> 'Tags' ->> 0);
    else
      v_size := v_size + 1 + length(v_clause::text) - length(replace(v_clause::text, ',', ''));
      perform taskqueue.require_usable_clause(v_clause, v_size);
      v_rest := v_rest || v_clause;
    end if;
  end loop;
  return jsonb_strip_nulls(jsonb_build_object(
    'Sites', v_sites, 'Tags', nullif(to_jsonb(array(select t from unnest(v_tags) t order by t)), '[]'),
    'Clauses', nullif(to_jsonb(v_rest), '[]')));
end $$;

comment on function taskqueue.normal_clauses(text, jsonb) is
  'The conditions of Sites, Tags (both as sorted lists), TagExpression, Attributes, Alternatives and Clauses in their '
  'one form: Sites, Tags and Clauses, each left out if empty. Other keys are ignored. Errors: PB001, naming key and '
  'value.';
