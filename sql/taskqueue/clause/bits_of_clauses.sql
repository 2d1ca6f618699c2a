-- CLAUSES.md, Numbers: two sessions that meet a new clause at once give it two numbers, so that neither waits for the
-- other. Both numbers hold or fail together.
create or replace function taskqueue.bits_of_clauses(p_setup text, p_clauses jsonb) returns bit varying
language plpgsql as $$
declare
  v_clause jsonb;
  v_id int;
  v_ids int[];
begin
  for v_clause in select c from jsonb_array_elements(p_clauses) c loop
    select min(k.clause_id) into v_id
      from taskqueue.clause k
     where k.setup = p_setup and md5(k.clause::text) = md5(v_clause::text) and k.clause = v_clause;
    if v_id is null then
      v_id := taskqueue.take_clause_number(p_setup, v_clause);
      if v_id is null then
        return null;
      end if;
    end if;
    v_ids := v_ids || v_id;
  end loop;
  return taskqueue.bits_of(v_ids, (select coalesce(max(i), 0) from unnest(v_ids) i));
end $$;

comment on function taskqueue.bits_of_clauses(text, jsonb) is
  'Returns the bits of clauses (Clauses of canonical requirements; null stands for none). A new clause gets a '
  'number; the result is null if there is no free one now.';
