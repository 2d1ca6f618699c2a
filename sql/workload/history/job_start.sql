-- See STATES.md, Statistics. Readers derive the rate of starts at queues and the time of the last start from this view.
create or replace view workload.job_start as
select b.setup, b.queue, b.gshare, b.resource_type, b.minute, b.jobs, b.last_at
  from workload.start_count b
union all
select c.setup, c.queue, c.gshare, c.resource_type, date_trunc('minute', c.at, 'utc'), c.jobs, c.at
  from workload.job_change c where c.to_status = 'running' and c.from_status is not null;

comment on view workload.job_start is
  'Jobs that began to run, by queue, share, resource type and minute. A key may have several rows; sum them.';
comment on column workload.job_start.jobs is 'Number of jobs; sum the rows.';
