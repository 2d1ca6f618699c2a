create or replace view monitor.quarantine as
select q.setup, q.kind, q.site, q.name, q.since, q.why,
       case when q.locks then 'refused' when q.kind = 'site' then 'named' else 'watched' end as state,
       case when q.is_automatic then 'guard' else 'operator' end as made_by,
       q.next_probe_at, q.pause, q.probe_job_id, q.probed_at, h.score
  from taskqueue.quarantine q
  left join taskqueue.health h
    on h.setup = q.setup and h.kind = 'host' and q.kind = 'host' and h.site = q.site and h.name = q.name
 where (q.setup = (select resource.bound_setup())) is not false;

comment on view monitor.quarantine is
  'Quarantined worker nodes, computing elements and sites; worker nodes that the guard only watches; sites that it '
  'names.';
comment on column monitor.quarantine.state is
  'refused: its requests get no job, and a worker node that the guard refuses gets probes; watched: the guard would '
  'refuse this worker node; named: many worker nodes of this site fail.';
comment on column monitor.quarantine.made_by is 'Author of the quarantine: guard or operator.';
comment on column monitor.quarantine.score is 'Score of the worker node; null for computing elements and sites.';
