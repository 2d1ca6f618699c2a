create or replace view monitor.ended_lately as
select t.setup, e.outcome, e.site, count(*) as jobs
  from resource.setup_time t
  join taskqueue.ended e on e.setup = t.setup and e.ended_at > t.now - interval '1 minute'
 where (t.setup = (select resource.bound_setup())) is not false
 group by t.setup, e.outcome, e.site;

comment on view monitor.ended_lately is
  'Jobs of TaskQueues that ended within the last minute, by outcome and site. Restrict the setup.';
comment on column monitor.ended_lately.outcome is 'Outcome: finished, failed, cancelled or closed.';
comment on column monitor.ended_lately.site is
  'Site of the last lease; null = the lease named no site, or the job ended while it waited.';
comment on column monitor.ended_lately.jobs is 'Number of jobs.';
