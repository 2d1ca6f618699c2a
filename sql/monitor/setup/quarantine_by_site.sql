-- GUARD.md, Quarantines: a quarantine under the name of a PanDA site refuses no pilot of its queues.
create or replace view monitor.quarantine_by_site as
select g.setup, g.site, g.refused, g.watched,
       case when case when u.queues > 0 then g.refused_queues = u.queues else g.is_refused end then 'refused'
            when g.is_named then 'named' end as state
  from (select q.setup, coalesce(r.panda_site, q.site) as site,
               count(*) filter (where q.state = 'refused') as refused,
               count(*) filter (where q.state = 'watched') as watched,
               count(*) filter (where q.kind = 'site' and q.state = 'refused'
                                  and r.panda_site is not null) as refused_queues,
               bool_or(q.kind = 'site' and q.state = 'refused') as is_refused,
               bool_or(q.state = 'named') as is_named
          from monitor.quarantine q
          left join resource.queue r on r.setup = q.setup and r.queue = q.site
         group by 1, 2) g
  left join (select r.setup, r.panda_site, count(*) as queues from resource.queue r group by 1, 2) u
    on u.setup = g.setup and u.panda_site = g.site;

comment on view monitor.quarantine_by_site is
  'Sites with quarantines (monitor.quarantine). A quarantine at a PanDA queue counts for the site of the queue.';
comment on column monitor.quarantine_by_site.site is
  'PanDA site, or the site of a resource description; empty for worker nodes whose requests name no site.';
comment on column monitor.quarantine_by_site.refused is
  'Quarantines that refuse requests: of its worker nodes, of its CEs, of its PanDA queues and of the whole site.';
comment on column monitor.quarantine_by_site.watched is 'Number of its worker nodes that the guard would quarantine.';
comment on column monitor.quarantine_by_site.state is
  'refused: the site gets no job; a PanDA site is refused if all of its queues are; named: the guard names the site or '
  'one of its queues, since many worker nodes fail; null = neither.';
