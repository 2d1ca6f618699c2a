-- HANDS.md, Beside a dealer: this is the only moment at which a match waits for another transaction. It waits only in
-- the first second of a statement, so that a call for many jobs does not wait for each job. If the dealer was rolled
-- back, this call gets the row lock; the error releases the lock, since otherwise no transaction could deal.
create or replace function taskqueue.await_dealer(
  p_setup text, p_task_queue_id bigint, p_hand_id bigint, p_briefly boolean
) returns boolean
language plpgsql set lock_timeout = '1s' as $$
declare
  v_ended boolean := false;
begin
  if clock_timestamp() > statement_timestamp() + interval '1 second' then
    return null;
  end if;
  if p_briefly then
    perform set_config('lock_timeout', '50ms', true);
  end if;
  -- plan: the wait for a hand
  perform from taskqueue.hand h
   where h.setup = p_setup and h.task_queue_id = p_task_queue_id and h.hand_id = p_hand_id
     for key share;
  v_ended := true;
  raise lock_not_available;
exception
  when lock_not_available then return v_ended;
end $$;

comment on function taskqueue.await_dealer(text, bigint, bigint, boolean) is
  'Waits until the transaction that deals the next hand after p_hand_id has ended. False: it did not end within a '
  'second (with briefly, 50 ms). Null: there was no wait, since the statement has lasted a second.';
