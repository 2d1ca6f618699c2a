-- See rules/production-load.md, no-pilot.
create or replace view resource.pilot_count as
select a.setup, a.queue, coalesce(a.getjob, 0) + coalesce(a.updatejob, 0) as requests
  from resource.queue_activity a
  join resource.setup_time t on t.setup = a.setup
 where coalesce(a.pilots_at >= t.now - interval '3 hours', true)
union all
select r.setup, r.queue, r.requests
  from resource.pilot_request r
  join resource.setup_time t on t.setup = r.setup
 where r.since > t.now - interval '3 hours' and r.since <= t.now;

comment on view resource.pilot_count is
  'Requests by pilots of queues in the last 3 h: loaded counts that are not older, and requests noted here, which show '
  'whether there are any rather than how many. A key may have several rows; sum them.';
comment on column resource.pilot_count.requests is 'Number of requests; sum the rows.';
