-- The view shows how fast jobs leave the TaskQueues.
create or replace view monitor.matches_per_minute as
select h.setup, date_trunc('minute', h.at) as minute, h.owner_group, count(*) as matches,
       count(distinct h.site) as sites
  from taskqueue.match h
 where (h.setup = (select resource.bound_setup())) is not false
 group by h.setup, date_trunc('minute', h.at), h.owner_group;

comment on view monitor.matches_per_minute is
  'Matches by minute and owner group. Restrict the minute where the history is long.';
comment on column monitor.matches_per_minute.minute is 'Start of the minute.';
comment on column monitor.matches_per_minute.matches is 'Number of matches.';
comment on column monitor.matches_per_minute.sites is 'Number of sites that got the jobs.';
