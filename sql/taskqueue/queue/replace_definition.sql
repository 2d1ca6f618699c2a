-- Two definitions become equal when the CPU buckets change. Leases and TaskQueues then move to one of them, and the
-- jobs go to its oldest TaskQueue; ended jobs keep the old one (taskqueue.past_definition). A TaskQueue that an
-- operator disabled or held stays as it is, as a sibling.
create or replace function taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) returns void
language plpgsql as $$
declare
  v_ids bigint[];
begin
  update taskqueue.lease l set definition_id = p_new where l.setup = p_setup and l.definition_id = p_old;
  if exists (select from taskqueue.task_queue q where q.setup = p_setup and q.definition_id = p_new) then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q
                    where q.setup = p_setup and q.definition_id in (p_old, p_new) and q.enabled and not q.held
                    order by q.task_queue_id);
    update taskqueue.job j set task_queue_id = v_ids[1] where j.setup = p_setup and j.task_queue_id = any (v_ids[2:]);
    delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = any (v_ids[2:]);
  end if;
  update taskqueue.task_queue q set definition_id = p_new where q.setup = p_setup and q.definition_id = p_old;
  perform taskqueue.retire_definitions(p_setup, array[p_old]);
end $$;

comment on function taskqueue.replace_definition(text, bigint, bigint) is
  'Gives the TaskQueues and leases of one definition to another. If the other one has TaskQueues, all jobs go to the '
  'oldest TaskQueue of both. Disabled and held TaskQueues stay as they are. The caller then calls '
  'taskqueue.rebuild_matching for counts and postings.';
