create or replace function taskqueue.clauses_of_bits(p_setup text, p_clauses bit varying) returns jsonb
language sql stable as $$
  select jsonb_agg(c.clause order by c.clause::text collate "C")
    from (select distinct k.clause from taskqueue.clause k
           where k.setup = p_setup and k.clause_id <= length(p_clauses)
             and get_bit(p_clauses, k.clause_id - 1) = 1) c
$$;

comment on function taskqueue.clauses_of_bits(text, bit varying) is
  'The clauses whose bits are set, as Clauses of canonical requirements; null if there are none.';
