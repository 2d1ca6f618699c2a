create or replace function taskqueue.clauses_text(p_clauses jsonb) returns text
language sql immutable as $$
  select string_agg(taskqueue.clause_text(e.c), '; ' order by e.n)
    from jsonb_path_query(p_clauses, '$[*]') with ordinality e (c, n)
$$;

comment on function taskqueue.clauses_text(jsonb) is 'Clauses in words; null if there are none.';
