-- Two definitions have become equal (re-bucketing): leases and queues follow, and the jobs go to the oldest queue there is.
create or replace function taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) returns void
language plpgsql
as $$
declare
  v_oldest bigint;
begin
  update taskqueue.lease l set definition_id = p_new where l.setup = p_setup and l.definition_id = p_old;
  select min(q.task_queue_id) into v_oldest from taskqueue.task_queue q where q.setup = p_setup and q.definition_id = p_new;
  if v_oldest is not null then
    v_oldest := least(v_oldest, (select min(q.task_queue_id) from taskqueue.task_queue q where q.setup = p_setup and q.definition_id = p_old));
    update taskqueue.job j set task_queue_id = v_oldest
      from taskqueue.task_queue q
     where q.setup = p_setup and q.definition_id in (p_old, p_new) and q.task_queue_id <> v_oldest
       and j.setup = p_setup and j.task_queue_id = q.task_queue_id;
    delete from taskqueue.task_queue q where q.setup = p_setup and q.definition_id in (p_old, p_new) and q.task_queue_id <> v_oldest;
  end if;
  update taskqueue.task_queue q set definition_id = p_new where q.setup = p_setup and q.definition_id = p_old;
  delete from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_old;
end $$;

comment on function taskqueue.replace_definition(text, bigint, bigint) is
'Gives the queues and leases of one definition to another; where that has queues, all jobs go to the oldest of both. Counts and postings are for taskqueue.rebuild_matching.';
