-- CLAUSES.md, Numbers: a number is never given to another clause while agents work in the setup. So numbers that no
-- definition uses are free again only after this call, which has the setup for itself.
create or replace function taskqueue.renumber_clauses(p_setup text) returns bigint
language plpgsql as $$
declare
  v_definitions bigint;
begin
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_descriptions(p_setup);
  delete from taskqueue.clause c where c.setup = p_setup;
  update taskqueue.definition d set clauses = taskqueue.bits_of_clauses(p_setup, d.requirements -> 'Clauses')
   where d.setup = p_setup and d.requirements ? 'Clauses';
  get diagnostics v_definitions = row_count;
  perform taskqueue.list_bounds(p_setup);
  return v_definitions;
end $$;

comment on function taskqueue.renumber_clauses(text) is
  'Numbers the clauses of a setup again, from 1; returns the number of definitions that have clauses. Errors: PB006 '
  '(busy).';
