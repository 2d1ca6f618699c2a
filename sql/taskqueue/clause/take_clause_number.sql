-- CLAUSES.md, Numbers: numbers are rows, made before they are needed. A caller takes one that nobody has locked, and a
-- rollback gives it back. If there is none, one caller makes more, and the others do not wait for it.
create or replace function taskqueue.take_clause_number(p_setup text, p_clause jsonb) returns int
language plpgsql as $$
declare
  v_id int;
begin
  for v_try in 1..2 loop
    update taskqueue.clause k
       set clause = p_clause,
           version = case when p_clause @? '$.Attributes.*[*].* ? (@.type() == "number")' then null else 0 end
     where k.setup = p_setup and k.clause_id = (
           select f.clause_id from taskqueue.clause f
            where f.setup = p_setup and f.clause is null
            order by f.clause_id limit 1 for update skip locked)
    returning k.clause_id into v_id;
    if found then
      insert into taskqueue.literal select l.* from taskqueue.literals_of(p_setup, v_id, p_clause) l;
      return v_id;
    end if;
    exit when not taskqueue.make_clause_numbers(p_setup);
  end loop;
  return null;
end $$;

comment on function taskqueue.take_clause_number(text, jsonb) is
  'Gives a clause a free number and returns it; null if there is none.';
