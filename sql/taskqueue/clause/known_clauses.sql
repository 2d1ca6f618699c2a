-- CLAUSES.md, Clauses: making the form takes milliseconds, and users submit the same conditions again and again.
-- Two sessions that make one form at once both keep it. A lock that spares the second row would be one more lock for
-- each condition of a batch, and the server has few.
create or replace function taskqueue.known_clauses(p_setup text, p_given jsonb) returns jsonb
language plpgsql as $$
declare
  v_digest bigint := jsonb_hash_extended(p_given, 0);
  v_form jsonb;
begin
  select k.form into v_form
    from taskqueue.known_condition k
   where k.setup = p_setup and k.digest = v_digest and k.given = p_given limit 1;
  if not found then
    v_form := taskqueue.normal_clauses(p_setup, p_given);
    if pg_column_size(p_given) <= 4096 then
      insert into taskqueue.known_condition (setup, digest, given, form, made_at)
      values (p_setup, v_digest, p_given, v_form, resource.clock(p_setup));
    end if;
  end if;
  return v_form;
end $$;

comment on function taskqueue.known_clauses(text, jsonb) is
  'The result of taskqueue.normal_clauses, made now or known from before. Conditions of more than 4 kB are not kept. '
  'Errors: PB001.';
