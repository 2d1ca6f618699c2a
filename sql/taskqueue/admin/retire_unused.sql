-- LEASES.md, Ended jobs. Rows are locked first and tested afterwards, so that a job inserted and matched in between is
-- seen.
create or replace function taskqueue.retire_unused(p_setup text, p_now timestamptz, p_limit int) returns bigint
language plpgsql as $$
declare
  v_definition_ids bigint[] := array(
    select i.definition_id from taskqueue.definition i
     where i.setup = p_setup and i.created_at < p_now - interval '1 hour'
       and not exists (select from taskqueue.task_queue q
                        where q.setup = i.setup and q.definition_id = i.definition_id)
       and not exists (select from taskqueue.lease l where l.setup = i.setup and l.definition_id = i.definition_id)
     limit p_limit
       for update skip locked);
begin
  return taskqueue.retire_definitions(p_setup, array(
    select d.definition_id from taskqueue.definition d
     where d.setup = p_setup and d.definition_id = any (v_definition_ids)
       and not exists (select from taskqueue.task_queue q
                        where q.setup = d.setup and q.definition_id = d.definition_id)
       and not exists (select from taskqueue.lease l where l.setup = d.setup and l.definition_id = d.definition_id)));
end $$;

comment on function taskqueue.retire_unused(text, timestamptz, int) is
  'Moves up to p_limit definitions, older than an hour, that no TaskQueue and no lease has to '
  'taskqueue.past_definition; returns how many.';
