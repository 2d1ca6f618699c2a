-- order-and-turns.md, live-counter: jobs that brokers assigned lately and that are in no statistics yet.
create or replace view brokerage.live_count as
select c.setup, c.queue, c.jobs
  from brokerage.live_counter c
  join brokerage.setting_in_force s on s.setup = c.setup
 where c.counted_at is null
    or c.counted_at > resource.clock(c.setup) - s.assignments_count;

comment on view brokerage.live_count is 'Rows of the live counter that count now; their sum by queue is the counter.';
