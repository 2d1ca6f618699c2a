create or replace function brokerage.compiled_query(p_query text, p_algorithm text, p_profile text) returns text
language sql immutable as $$
  select format('brokerage_compiled.%s_of_%s_%s', p_query, p_algorithm, left(md5(p_profile), 16))
$$;

comment on function brokerage.compiled_query(text, text, text) is
  'The name of the function that keeps a query (answers, turns) of a profile for an algorithm. '
  'brokerage.compile_profiles makes such functions.';
