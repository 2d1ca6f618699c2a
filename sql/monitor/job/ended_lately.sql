-- Only the history knows the site of a job that ended, and a look-up there costs more than counting the job: at a
-- thousand ends a second, the look-ups of a minute would take half a second. So only the newest ends are looked up.
create or replace view monitor.ended_lately as
select t.setup, e.outcome, e.site, count(*) as jobs
  from resource.setup_time t
 cross join lateral (
   select n.outcome, h.site
     from (select i.job_id, i.outcome, i.ended_at from taskqueue.ended i
            where i.setup = t.setup and i.ended_at > t.now - interval '1 minute'
            order by i.ended_at desc limit 3000) n
     left join lateral (select i.site from taskqueue.history i
                         where i.setup = t.setup and i.job_id = n.job_id and i.at = n.ended_at and i.event = n.outcome
                         limit 1) h on true
   union all
   select n.outcome, null
     from (select i.outcome from taskqueue.ended i
            where i.setup = t.setup and i.ended_at > t.now - interval '1 minute'
            order by i.ended_at desc offset 3000) n) e
 where (t.setup = (select resource.bound_setup())) is not false
 group by t.setup, e.outcome, e.site;

comment on view monitor.ended_lately is
  'Jobs of TaskQueues that ended within the last minute, by outcome and site. Restrict the setup.';
comment on column monitor.ended_lately.outcome is 'Outcome: finished, failed, cancelled or closed.';
comment on column monitor.ended_lately.site is
  'Site of the last lease; null = the lease named no site, the job was never matched, or 3,000 jobs ended later.';
comment on column monitor.ended_lately.jobs is 'Number of jobs.';
