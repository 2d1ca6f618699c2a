-- analysis-load.md, max-q-len: products come before quotients, so that whole numbers stay whole (conventions.md, Exact
-- arithmetic).
create or replace function brokerage.user_queue_limit(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns numeric
language sql stable parallel safe as $$
  select greatest(
    t.base_default_queue_length_per_pq_user::numeric,
    t.base_queue_ratio_on_pq::numeric * p.users_running,
    brokerage.queue_length_limit(t, q, p) * p.user_running / nullif(p.users_running, 0),
    brokerage.queue_length_limit(t, q, p) / greatest(p.users, 1))
$$;

comment on function brokerage.user_queue_limit(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'max_q_len, the number of jobs that the user of the task may have queued there.';
