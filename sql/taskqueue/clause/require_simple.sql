-- Bounds the time of a normal form: the number of prime clauses can grow exponentially.
create or replace function taskqueue.require_simple(p_clauses int, p_tests int) returns void
language plpgsql immutable as $$
begin
  if p_clauses > 200 then
    raise exception 'the conditions have more than 200 clauses'
      using errcode = 'PB001',
            hint = 'Clauses that follow from others count, too: alternatives of many conditions each make products of '
                   'clauses. Give fewer alternatives, or split the job into jobs with one alternative each.';
  elsif p_tests > 100000 then
    raise exception 'the conditions are too complex: over 100000 comparisons of clauses'
      using errcode = 'PB001', hint = 'Use fewer alternatives that name the same tags and attributes.';
  end if;
end $$;

comment on function taskqueue.require_simple(int, int) is
  'Refuses a normal form with too many clauses, or too many comparisons of two clauses. Errors: PB001.';
