-- CLAUSES.md, Clauses: the function runs a program (taskqueue.condition_program) on a stack of lists of clauses. The
-- operator "and" joins two lists. The operator "or" pairs each clause of one list with each clause of the other list,
-- except the clauses that a clause of the other list implies. These stay as they are.
create or replace function taskqueue.clauses_of_program(
  p_program text[], p_bits jsonb, p_tags int, p_closed bit varying[], out clauses bit varying[], inout p_tests int
)
language plpgsql immutable as $$
declare
  v_token text;
  v_stack bit varying[] := '{}'::bit varying[];  -- all lists, one after the other
  v_count int := 0;  -- length of the stack
  v_starts int[] := '{}'::int[];  -- where each list begins
  v_depth int := 0;  -- number of the lists
  v_start int;
  v_left bit varying[];
  v_right bit varying[];
begin
  foreach v_token in array p_program loop
    if v_token not in ('&', '|') then
      v_depth := v_depth + 1;
      v_starts[v_depth] := v_count + 1;
      if v_token <> 'true' then
        v_count := v_count + 1;
        v_stack[v_count] := (p_bits ->> v_token)::bit varying;
      end if;
      continue;
    end if;
    v_depth := v_depth - 1;
    v_start := v_starts[v_depth];
    if v_token = '|' and (v_start = v_starts[v_depth + 1] or v_starts[v_depth + 1] > v_count) then
      v_count := v_start - 1;
    elsif v_token = '|' and v_count = v_start + 1 then
      v_stack[v_start] := v_stack[v_start] | v_stack[v_count];
      v_count := v_start;
    elsif v_token = '|' or v_count - v_start >= 400 then
      v_left := v_stack[v_start:v_count];
      if v_token = '|' then
        v_left := v_stack[v_start:v_starts[v_depth + 1] - 1];
        v_right := v_stack[v_starts[v_depth + 1]:v_count];
        if cardinality(v_left) * cardinality(v_right) > 100 then
          select l.clauses, r.clauses, r.p_tests
            into v_left, v_right, p_tests
            from taskqueue.minimal_clauses(v_left, p_tags, p_closed, p_tests) l,
                 taskqueue.minimal_clauses(v_right, p_tags, p_closed, l.p_tests) r;
        end if;
        p_tests := p_tests + 100 + 2 * cardinality(v_left) * cardinality(v_right);
        perform taskqueue.require_simple(0, p_tests);
        with l as (
          select l.c, exists (select from unnest(v_right) r where r & l.c = r) as implied from unnest(v_left) l(c)
        ), r as (
          select r.c, exists (select from unnest(v_left) l where l & r.c = l) as implied from unnest(v_right) r(c)
        )
        select array_agg(n.c) into v_left
          from (select l.c from l where l.implied
                union all
                select r.c from r where r.implied
                union all
                select l.c | r.c from l cross join r where not l.implied and not r.implied) n(c);
      end if;
      select m.clauses, m.p_tests into v_left, p_tests
        from taskqueue.minimal_clauses(v_left, p_tags, p_closed, p_tests) m;
      v_stack := v_stack[:v_start - 1] || v_left;
      v_count := cardinality(v_stack);
    end if;
  end loop;
  select m.clauses, m.p_tests into clauses, p_tests
    from taskqueue.minimal_clauses(v_stack[:v_count], p_tags, p_closed, p_tests) m;
end $$;

comment on function taskqueue.clauses_of_program(text[], jsonb, int, bit varying[], int) is
  'Returns the clauses of a program, sorted, without clauses that another clause implies. p_bits has the clause of '
  'each atom and tag. p_tags is the number of tags. p_closed has the variables of which some value always holds. '
  'p_tests counts comparisons. Errors: PB001.';
