-- The clauses of the requirements are tested one by one, which takes 50 times as long as taskqueue.accepts_clauses.
create or replace function taskqueue.meets_clauses(
  p_definition taskqueue.definition, p_offer taskqueue.offer, p_but_size boolean default false
) returns boolean
language plpgsql stable as $$
begin
  return not (p_definition).requirements ? 'Clauses'
         or not exists (select from taskqueue.failing_clauses((p_definition).requirements -> 'Clauses', p_offer,
                                                              p_but_size));
end $$;

comment on function taskqueue.meets_clauses(taskqueue.definition, taskqueue.offer, boolean) is
  'Condition Clauses, tested clause by clause; p_but_size as in taskqueue.literal_holds.';
