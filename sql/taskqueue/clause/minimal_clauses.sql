-- CLAUSES.md, Clauses. A clause that implies another one sorts before it, so one pass is enough.
create or replace function taskqueue.minimal_clauses(
  p_clauses bit varying[], p_tags int, p_closed bit varying[], out clauses bit varying[], inout p_tests int
)
language plpgsql immutable as $$
declare
  v_clause bit varying;
  v_other bit varying;
begin
  clauses := '{}';
  <<clause>>
  foreach v_clause in array array(select distinct c from unnest(p_clauses) c order by c) loop
    perform taskqueue.require_simple(cardinality(clauses), p_tests);
    p_tests := p_tests + cardinality(clauses);
    continue when position(B'1' in substring(v_clause & (v_clause << p_tags) from 1 for p_tags)) > 0;
    foreach v_other in array p_closed loop
      continue clause when v_other & v_clause = v_other;
    end loop;
    foreach v_other in array clauses loop
      continue clause when v_other & v_clause = v_other;
    end loop;
    clauses := clauses || v_clause;
  end loop;
end $$;

comment on function taskqueue.minimal_clauses(bit varying[], int, bit varying[], int) is
  'Returns the clauses, sorted, without clauses that always hold and without clauses that another clause implies. '
  'p_tags is the number of tags. p_closed has the variables of which some value always holds. p_tests counts '
  'comparisons. Errors: PB001.';
