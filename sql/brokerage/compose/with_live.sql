-- The jobs are those that this batch has assigned to the queue since the facts were made.
create or replace function brokerage.with_live(q brokerage.queue_facts, p_jobs bigint) returns brokerage.queue_facts
language plpgsql immutable parallel safe as $$
begin
  q.live_jobs := q.live_jobs + p_jobs;
  return q;
end $$;

comment on function brokerage.with_live(brokerage.queue_facts, bigint) is
  'Facts of a queue with jobs added to its live counter.';
