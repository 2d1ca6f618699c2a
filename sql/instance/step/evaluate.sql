-- PACKING.md, Unknown needs. Long because one loop reads the tokens of the whole grammar. Operators wait on a stack
-- until an operator that binds less tightly comes; a function waits there with its number of arguments.
create or replace function instance.evaluate(p_expression text, p_inputs jsonb) returns numeric
language plpgsql immutable as $$
declare
  v_tokens text[];
  v_token text;
  v_next text;
  v_values numeric[] := '{}'::numeric[];
  v_waiting text[] := '{}'::text[];  -- operators, brackets and functions
  v_counts int[] := '{}'::int[];  -- numbers of arguments of the functions that wait
  v_wants_value boolean := true;
  v_top text;
  v_depth int := 0;
  v_value numeric;
  n int;
  c_hint constant text := 'Numbers, names of inputs, + - * /, brackets, ceil, floor, round, min and max, such as '
                          'ceil(2 * size / 1024).';
begin
  if length(p_expression) > 500 then
    raise exception 'expression has % characters', length(p_expression)
      using errcode = 'PB001', hint = 'At most 500.';
  end if;
  v_tokens := array(
    select m[1]
      from regexp_matches(p_expression, '([0-9]+(?:[.][0-9]+)?|[A-Za-z_][A-Za-z_0-9]*|[^[:space:]])', 'g') m);
  for i in 1 .. cardinality(v_tokens) + 1 loop
    v_token := v_tokens[i];  -- null after the last token
    v_next := v_tokens[i + 1];
    if v_wants_value then
      if v_token ~ '^[0-9]' then
        v_values := v_values || v_token::numeric;
        v_wants_value := false;
      elsif v_token in ('ceil', 'floor', 'round', 'min', 'max') and v_next = '(' then
        v_waiting := v_waiting || v_token;
        v_counts := v_counts || 1;
      elsif v_token ~ '^[A-Za-z_]' and v_next is distinct from '(' then
        v_values := v_values
                    || case when jsonb_typeof(p_inputs -> v_token) = 'number' then (p_inputs ->> v_token)::numeric end;
        v_wants_value := false;
      elsif v_token = '(' then
        v_waiting := v_waiting || v_token;
      elsif v_token = '-' then
        v_waiting := v_waiting || 'negative'::text;
      else
        raise exception 'expression %: % instead of a value', quote_literal(p_expression),
          coalesce(quote_literal(v_token), 'its end')
          using errcode = 'PB001', hint = c_hint;
      end if;
      continue;
    end if;
    if v_token is not null and v_token not in ('+', '-', '*', '/', ')', ',') then
      raise exception 'expression %: % instead of an operator', quote_literal(p_expression), quote_literal(v_token)
        using errcode = 'PB001', hint = c_hint;
    end if;
    loop  -- apply the operators that bind as tightly or more tightly
      v_top := v_waiting[cardinality(v_waiting)];
      exit when v_top is null or v_top = '(' or v_token in ('*', '/') and v_top in ('+', '-');
      v_waiting := trim_array(v_waiting, 1);
      n := cardinality(v_values);
      if v_top = 'negative' then
        v_values[n] := - v_values[n];
      else
        if v_top = '/' and v_values[n] = 0 then
          raise exception 'expression % divides by 0', quote_literal(p_expression)
            using errcode = 'PB001', hint = format('Inputs are %s.', p_inputs);
        end if;
        v_value := case v_top when '+' then v_values[n - 1] + v_values[n] when '-' then v_values[n - 1] - v_values[n]
                              when '*' then v_values[n - 1] * v_values[n] else v_values[n - 1] / v_values[n] end;
        v_values := trim_array(v_values, 2) || v_value;
      end if;
    end loop;
    if v_token is null then
      exit when v_top is null;
      raise exception 'expression %: a bracket is not closed', quote_literal(p_expression)
        using errcode = 'PB001', hint = 'Close it.';
    end if;
    n := cardinality(v_waiting);
    if v_token in (')', ',') then
      if v_top is null or v_token = ',' and coalesce(v_waiting[n - 1] in ('min', 'max'), false) is false then
        raise exception 'expression %: misplaced %', quote_literal(p_expression), quote_literal(v_token)
          using errcode = 'PB001', hint = 'min and max take several values; brackets go in pairs.';
      end if;
      if v_token = ',' then
        v_counts[cardinality(v_counts)] := v_counts[cardinality(v_counts)] + 1;
        v_wants_value := true;
      else
        v_waiting := trim_array(v_waiting, 1);
        v_top := v_waiting[n - 1];
        if v_top in ('ceil', 'floor', 'round', 'min', 'max') then
          v_depth := v_counts[cardinality(v_counts)];
          if v_depth < 2 and v_top in ('min', 'max') then
            raise exception 'expression %: % of one value', quote_literal(p_expression), v_top
              using errcode = 'PB001', hint = 'min and max take several values.';
          end if;
          n := cardinality(v_values);
          v_value := case v_top when 'ceil' then ceil(v_values[n])
                                when 'floor' then floor(v_values[n])
                                when 'round' then round(v_values[n])
                                when 'min' then (select min(u) from unnest(v_values[n - v_depth + 1:n]) u
                                                 having count(u) = v_depth)
                                else (select max(u) from unnest(v_values[n - v_depth + 1:n]) u
                                      having count(u) = v_depth) end;
          v_values := trim_array(v_values, v_depth) || v_value;
          v_waiting := trim_array(v_waiting, 1);
          v_counts := trim_array(v_counts, 1);
        end if;
      end if;
    else
      v_waiting := v_waiting || v_token;
      v_wants_value := true;
    end if;
  end loop;
  return v_values[1];
end $$;

comment on function instance.evaluate(text, jsonb) is
  'The value of an expression of named inputs ({"size": 2048}), such as ceil(2 * size / 1024); null if an input that '
  'it reads is not yet known. It may have numbers, names, + - * /, brackets, ceil, floor, round, min and max. Errors: '
  'PB001 (an invalid expression, division by 0).';
