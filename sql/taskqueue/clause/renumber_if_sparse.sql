-- CLAUSES.md, Numbers.
create or replace function taskqueue.renumber_if_sparse(p_setup text) returns boolean
language plpgsql as $$
declare
  v_given bigint := (select count(*) from taskqueue.clause c where c.setup = p_setup and c.clause is not null);
  v_longest int;
  v_used bigint;
begin
  if v_given <= 1024 then
    return false;
  end if;
  v_longest := (select max(length(d.clauses)) from taskqueue.definition d where d.setup = p_setup);
  v_used := (select bit_count(bit_or(d.clauses || repeat('0', v_longest - length(d.clauses))::bit varying))
               from taskqueue.definition d where d.setup = p_setup and d.clauses <> '');
  if coalesce(v_used, 0) > (case when v_given = 4096 then 3686 else v_given / 2 end) then
    return false;
  end if;
  perform taskqueue.renumber_clauses(p_setup);
  return true;
exception when sqlstate 'PB006' then  -- agents are at work, and the next call tries again
  return false;
end $$;

comment on function taskqueue.renumber_if_sparse(text) is
  'Numbers the clauses of a setup again if it has given more than 1,024 numbers and definitions use less than half of '
  'them, or if all 4,096 are given and a tenth is not used. Returns whether it did.';
