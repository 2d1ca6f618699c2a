-- CLAUSES.md, Numbers: 4,096 bits are half a kilobyte for a definition. Clauses beyond that have no number.
create or replace function taskqueue.make_clause_numbers(p_setup text) returns boolean
language plpgsql as $$
declare
  v_last int;
begin
  if not pg_try_advisory_xact_lock(hashtext('taskqueue.clause'), hashtext(p_setup)) then
    return false;
  end if;
  select coalesce(max(k.clause_id), 0) into v_last from taskqueue.clause k where k.setup = p_setup;
  insert into taskqueue.clause (setup, clause_id)
  select p_setup, i from generate_series(v_last + 1, least(v_last + 64, 4096)) i
  on conflict do nothing;
  return found;
end $$;

comment on function taskqueue.make_clause_numbers(text) is
  'Makes up to 64 more free numbers of clauses; false if there are 4,096, or another caller is doing so.';
