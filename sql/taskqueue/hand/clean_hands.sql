-- HANDS.md, Exact counts: a change is removed when the hand counts it, since the next hand is dealt from this hand.
-- Hands and changes of deleted TaskQueues are also removed. Rows that another transaction has locked are left for the
-- next call.
create or replace function taskqueue.clean_hands(p_setup text) returns bigint
language plpgsql as $$
declare
  v_gone bigint;
  v_count bigint;
begin
  delete from taskqueue.job_count_change d where d.ctid = any (array(
    select c.ctid from taskqueue.job_count_change c
      left join lateral (select h.known_to, h.in_flight from taskqueue.hand h
                          where h.setup = c.setup and h.task_queue_id = c.task_queue_id
                          order by h.hand_id desc limit 1) h on true
     where c.setup = p_setup
       and case when h.known_to is null
                then not exists (select from taskqueue.task_queue q
                                  where q.setup = c.setup and q.task_queue_id = c.task_queue_id)
                else c.made_in < h.known_to and c.made_in <> all (h.in_flight) end
       for update of c skip locked));
  get diagnostics v_gone = row_count;
  delete from taskqueue.hand d where d.ctid = any (array(
    select h.ctid from taskqueue.hand h
     where h.setup = p_setup
       and not exists (select from taskqueue.task_queue q
                        where q.setup = h.setup and q.task_queue_id = h.task_queue_id)
       for update skip locked));
  get diagnostics v_count = row_count;
  return v_gone + v_count;
end $$;

comment on function taskqueue.clean_hands(text) is
  'Removes changes that hands count, and the hands of TaskQueues that have gone; returns the number of rows.';
