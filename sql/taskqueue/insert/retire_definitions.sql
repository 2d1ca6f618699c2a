-- LEASES.md, Ended jobs: the caller has locked the definitions, and knows that no TaskQueue and no lease has them.
create or replace function taskqueue.retire_definitions(p_setup text, p_definition_ids bigint[]) returns bigint
language sql as $$
  with retired as (
    delete from taskqueue.definition d where d.setup = p_setup and d.definition_id = any (p_definition_ids)
    returning d.definition_id, d.requirements
  ), kept as (
    insert into taskqueue.past_definition (setup, definition_id, requirements, moved_at)
    select p_setup, r.definition_id, r.requirements, resource.clock(p_setup) from retired r
    returning 1
  )
  select count(*) from kept k
$$;

comment on function taskqueue.retire_definitions(text, bigint[]) is
  'Moves definitions that no TaskQueue and no lease has to taskqueue.past_definition; returns how many.';
