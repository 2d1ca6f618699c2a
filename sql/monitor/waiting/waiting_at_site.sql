create or replace view monitor.waiting_at_site as
select w.setup, case w.site when '*' then '(any site)' else w.site end as site, w.reason, w.jobs, s.counted_at,
       t.now - s.counted_at as age,
       exists (select from resource.queue q where q.setup = w.setup and q.queue = w.site) as is_queue
  from taskqueue.waiting_site_summary w
  join taskqueue.summary s on s.setup = w.setup
  join resource.setup_time t on t.setup = w.setup
 where (w.setup = (select resource.bound_setup())) is not false;

comment on view monitor.waiting_at_site is
  'Jobs that wait in TaskQueues by the sites that may run them and by reason, as the loop summarize of `broker run` '
  'last counted them. The numbers overlap: jobs that list several sites count at each of them. Jobs that list no site '
  'count at (any site).';
comment on column monitor.waiting_at_site.site is 'Name of the site, or (any site).';
comment on column monitor.waiting_at_site.reason is 'Reason in one word (monitor.waiting_job).';
comment on column monitor.waiting_at_site.counted_at is 'When the jobs were counted.';
comment on column monitor.waiting_at_site.age is 'Time since the jobs were counted.';
comment on column monitor.waiting_at_site.is_queue is
  'Whether the jobs name a PanDA queue, to which a broker sent them; the counts of queues include these jobs.';
