-- CLAUSES.md, Clauses: resolution. Two clauses imply a third one: on one variable it has the values that both have,
-- on all others the values that either has. A clause meets all earlier ones, until nothing new comes. With tags, the
-- new clause always holds if the two differ in a second tag.
create or replace function taskqueue.prime_clauses(
  p_clauses bit varying[], p_tags int, p_variables bit varying[], p_closed bit varying[],
  out clauses bit varying[], out contradiction bit varying[], inout p_tests int
)
language plpgsql immutable as $$
declare
  v_zero bit varying := p_clauses[1] & ~p_clauses[1];
  v_of_tags bit varying;
  v_queue bit varying[] := p_clauses;
  v_last int := cardinality(p_clauses);
  v_at int := 0;
  v_clause bit varying;
  v_other bit varying;
  v_swapped bit varying;  -- the tags of v_clause with the opposite sign
  v_clash bit varying;
  v_new bit varying;
  v_mine bit varying[];  -- variables of v_clause, without tags
  v_variable bit varying;
  v_kept bit varying[];
begin
  clauses := '{}';
  v_of_tags := ~((~v_zero) >> 2 * p_tags);
  <<queue>>
  while v_at < v_last loop
    v_at := v_at + 1;
    v_clause := v_queue[v_at];
    p_tests := p_tests + cardinality(clauses);
    perform taskqueue.require_simple(cardinality(clauses), p_tests);
    foreach v_other in array clauses loop
      continue queue when v_other & v_clause = v_other;
    end loop;
    foreach v_variable in array p_closed loop
      continue queue when v_variable & v_clause = v_variable;
    end loop;
    v_swapped := v_clause & v_of_tags;
    v_swapped := ((v_swapped << p_tags) | (v_swapped >> p_tags)) & v_of_tags;
    v_mine := '{}';
    foreach v_variable in array p_variables loop
      if v_variable & v_clause <> v_zero then
        v_mine := v_mine || v_variable;
      end if;
    end loop;
    v_kept := '{}';
    p_tests := p_tests + (2 + cardinality(v_mine)) * cardinality(clauses);
    foreach v_other in array clauses loop
      if v_clause & v_other <> v_clause then
        v_kept := v_kept || v_other;
      end if;
      v_clash := v_other & v_swapped;
      v_new := null;
      if v_clash = v_zero then
        foreach v_variable in array v_mine loop
          if v_clause & (~v_other) & v_variable <> v_zero and v_other & (~v_clause) & v_variable <> v_zero then
            v_new := ((v_clause | v_other) & (~v_variable)) | (v_clause & v_other & v_variable);
            v_last := v_last + 1;
            v_queue[v_last] := v_new;
            exit when v_new = v_zero;
          end if;
        end loop;
      elsif bit_count(v_clash) = 1 then
        v_clash := (v_clash | (v_clash << p_tags) | (v_clash >> p_tags)) & v_of_tags;
        v_new := (v_clause | v_other) & (~v_clash);
        v_last := v_last + 1;
        v_queue[v_last] := v_new;
      end if;
      if v_new = v_zero then
        contradiction := array[v_clause, v_other];
        return;
      end if;
    end loop;
    clauses := v_kept || v_clause;
  end loop;
  perform taskqueue.require_simple(cardinality(clauses), p_tests);
end $$;

comment on function taskqueue.prime_clauses(bit varying[], int, bit varying[], bit varying[], int) is
  'All clauses that p_clauses imply and that no other such clause implies; or two clauses that contradict each other. '
  'p_tags is the number of tags; p_variables are the other variables, each with the bits of its values; p_closed are '
  'those all of whose values always hold; p_tests counts comparisons. Errors: PB001.';
