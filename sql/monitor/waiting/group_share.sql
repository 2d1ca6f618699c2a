create or replace view monitor.group_share as
select u.setup, u.owner_group, u.share, u.share / sum(u.share) over w as target, u.waiting, u.matched, u.running,
       coalesce((u.matched + u.running)::float8 / nullif(sum(u.matched + u.running) over w, 0), 0) as use
  from (
    select n.setup, n.owner_group, coalesce(g.share, 1000) as share,
           case when c.setup is not null then sum(n.waiting)::bigint end as waiting,
           sum(n.matched)::bigint as matched, sum(n.running)::bigint as running
      from (
        select s.setup, s.owner_group, s.jobs as waiting, 0 as matched, 0 as running
          from taskqueue.waiting_summary s
         union all
        select l.setup, d.owner_group, 0, count(*) filter (where l.state = 'matched'),
               count(*) filter (where l.state <> 'matched')
          from taskqueue.lease l
          join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
         group by l.setup, d.owner_group) n
      left join taskqueue.summary c on c.setup = n.setup
      left join taskqueue.owner_group g on g.setup = n.setup and g.owner_group = n.owner_group
     where (n.setup = (select resource.bound_setup())) is not false
     group by n.setup, n.owner_group, g.share, c.setup) u
window w as (partition by u.setup);

comment on view monitor.group_share is
  'Owner groups that have jobs in TaskQueues or leases, with the share of each and its use. Restrict the setup.';
comment on column monitor.group_share.target is 'Share of the group as a fraction of the shares of all these groups.';
comment on column monitor.group_share.waiting is
  'Waiting jobs, as the loop summarize of `broker run` last counted them; null = they were not counted yet.';
comment on column monitor.group_share.matched is 'Jobs that JobAgents have and have not yet reported on.';
comment on column monitor.group_share.running is 'Jobs that JobAgents have reported on.';
comment on column monitor.group_share.use is 'Fraction of all leases that the group has.';
