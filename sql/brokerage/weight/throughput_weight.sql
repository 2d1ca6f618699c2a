-- See network.md, throughput-part. The weight follows the latest throughput, else the closeness, which is 7.7 if it is
-- not known. In panda2026 the value above 50 MB/s is 1.6.
create or replace function brokerage.throughput_weight(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_over_50 float8
) returns float8
language sql stable parallel safe as $$
  select case
    when p.mbps > 200 then 2.0
    when p.mbps > 100 then 1.9
    when p.mbps > 75 then 1.8
    when p.mbps > 50 then p_over_50
    when p.mbps > 20 then 1.5
    when p.mbps > 10 then 1.3
    when p.mbps > 2 then 1.2
    when p.mbps > 1 then 1.1
    when p.mbps is not null then 1.0
    else 1 + (11 - coalesce(p.closeness, 7.7)) / 11
  end
$$;

comment on function brokerage.throughput_weight(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
  'The throughputWeight of the link from the queue to the task''s nucleus; the last argument is its value above 50 '
  'MB/s.';
