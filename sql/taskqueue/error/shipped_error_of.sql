create or replace function taskqueue.shipped_error_of(p_source text, p_code bigint, p_text text default '')
returns setof taskqueue.shipped_error
language sql stable as $$
  select s.*
    from taskqueue.shipped_error s
   where s.source = p_source
     and case when s.text is null then p_code between s.code_from and s.code_to else p_text like s.text end
$$;

comment on function taskqueue.shipped_error_of(text, bigint, text) is
  'The shipped class and the meaning of an error, one row or none (taskqueue.shipped_error).';
