-- HANDS.md, Exact counts: a change is removed when the hand counts it, since the next hand is dealt from this hand.
-- Changes of deleted TaskQueues are also removed. Rows that another transaction has locked are left for the next call.
create or replace function taskqueue.clean_hands(p_setup text, p_task_queue_ids bigint[]) returns bigint
language plpgsql as $$
declare
  v_gone bigint;
begin
  delete from taskqueue.job_count_change d where d.ctid = any (array(
    select c.ctid from taskqueue.job_count_change c
      left join lateral (select h.known_to, h.in_flight from taskqueue.hand h
                          where h.setup = c.setup and h.task_queue_id = c.task_queue_id
                          order by h.hand_id desc limit 1) h on true
     where c.setup = p_setup and c.task_queue_id = any (p_task_queue_ids)
       and case when h.known_to is null
                then not exists (select from taskqueue.task_queue q
                                  where q.setup = c.setup and q.task_queue_id = c.task_queue_id)
                else c.made_in < h.known_to and c.made_in <> all (h.in_flight) end
       for update of c skip locked));
  get diagnostics v_gone = row_count;
  return v_gone;
end $$;

comment on function taskqueue.clean_hands(text, bigint[]) is
  'Removes the changes of counts of these TaskQueues that their hands count; returns how many.';
