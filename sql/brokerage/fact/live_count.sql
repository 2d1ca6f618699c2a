-- order-and-turns.md, live-counter: jobs that brokers assigned lately and that are in no statistics yet.
create or replace view brokerage.live_count as
select c.setup, c.queue, c.jobs
  from brokerage.setting_in_force s
 cross join lateral (select resource.clock(s.setup) - s.assignments_count as since offset 0) t
  join brokerage.live_counter c on c.setup = s.setup
 where c.counted_at is null or c.counted_at > t.since;

comment on view brokerage.live_count is 'Rows of the live counter that count now; their sum by queue is the counter.';
