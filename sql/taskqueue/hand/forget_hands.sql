-- HANDS.md, Exact counts. A TaskQueue is removed without its hand, whose row may be a dealer's lock.
create or replace function taskqueue.forget_hands(p_setup text) returns bigint
language plpgsql as $$
declare
  v_gone bigint;
begin
  delete from taskqueue.hand d where d.ctid = any (array(
    select h.ctid from taskqueue.hand h
     where h.setup = p_setup
       and not exists (select from taskqueue.task_queue q
                        where q.setup = h.setup and q.task_queue_id = h.task_queue_id)
       for update skip locked));
  get diagnostics v_gone = row_count;
  return v_gone;
end $$;

comment on function taskqueue.forget_hands(text) is
  'Removes the hands of TaskQueues that have gone; returns how many.';
