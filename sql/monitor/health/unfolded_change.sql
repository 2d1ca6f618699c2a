-- Counting stops at a limit: an exact count of more changes costs more and is of no use.
create or replace view monitor.unfolded_change as
select s.setup, c.counts, c.changes
  from resource.setup s
 cross join lateral (
   select 'waiting jobs' as counts,
          (select count(*) from (select from taskqueue.job_count_change i where i.setup = s.setup limit 100000) n)
          as changes
   union all
   select 'brokered jobs',
          (select count(*) from (select from workload.job_change i where i.setup = s.setup limit 100000) n)) c
 where (s.setup = (select resource.bound_setup())) is not false;

comment on view monitor.unfolded_change is
  'Changes of counts that the loops have not yet folded into the counts, at most 100,000 of each kind.';
comment on column monitor.unfolded_change.counts is
  'Kind of counts: waiting jobs (taskqueue.job_count_change) or brokered jobs (workload.job_change).';
comment on column monitor.unfolded_change.changes is 'Number of changes.';
