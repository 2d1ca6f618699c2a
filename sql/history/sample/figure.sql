-- The view has the names, labels and units of the sampled figures. If several series are shown as one, a figure whose
-- fold is max takes the largest; all others are added up.
create or replace view history.figure as
select f.figure, f.labels, f.unit, f.fold, 'pgbroker_' || f.metric as metric, f.meaning, f.title
  from (values
    ('jobs_waiting', 'Jobs that wait', '{owner_group,reason}'::text[], 'jobs', 'sum', 'jobs_waiting',
     'Jobs that wait in TaskQueues.'),
    ('jobs_waiting_at_site', 'Jobs that may run at a site', '{site,reason}', 'jobs', 'sum', 'jobs_waiting_at_site',
     'Jobs that wait in TaskQueues, at each site that may run them. The numbers overlap.'),
    ('task_queues', 'TaskQueues', '{owner_group,reason}', 'TaskQueues', 'sum', 'task_queues',
     'TaskQueues, by the reason why their oldest job that is not held waits.'),
    ('oldest_wait', 'Oldest job', '{owner_group}', 's', 'max', 'oldest_wait_seconds',
     'How long the oldest job waits.'),
    ('leases', 'Leases', '{owner_group,state}', 'jobs', 'sum', 'leases',
     'Jobs that JobAgents have: matched or running.'),
    ('leases_at_site', 'Leases at a site', '{site,state}', 'jobs', 'sum', 'leases_at_site',
     'Jobs that JobAgents have: matched or running.'),
    ('expired_leases', 'Expired leases', '{site}', 'jobs', 'sum', 'expired_leases',
     'Jobs whose JobAgents are silent for longer than their leases last.'),
    ('matches', 'Matches', '{owner_group}', 'jobs/min', 'sum', 'matches_per_minute', 'Matches.'),
    ('matches_at_site', 'Matches at a site', '{site}', 'jobs/min', 'sum', 'matches_at_site_per_minute', 'Matches.'),
    ('ends', 'Ends', '{owner_group,outcome}', 'jobs/min', 'sum', 'ends_per_minute',
     'Ends of matched jobs, including released and expired leases.'),
    ('ends_at_site', 'Ends at a site', '{site,outcome}', 'jobs/min', 'sum', 'ends_at_site_per_minute',
     'Ends of matched jobs, including released and expired leases.'),
    ('failures', 'Failures', '{site,class}', 'jobs/min', 'sum', 'failures_per_minute',
     'Matched jobs that failed, by the class of their errors.'),
    ('quarantines', 'Quarantines', '{site,state}', 'quarantines', 'sum', 'quarantines',
     'Quarantined worker nodes, CEs and sites; worker nodes that the guard watches, and sites that the guard names.'),
    ('limits', 'Limits', '{site}', 'limits', 'sum', 'limits', 'Limits.'),
    ('limits_reached', 'Limits reached', '{site}', 'limits', 'sum', 'limits_reached', 'Limits that are reached.'),
    ('limit_slots', 'Slots of limits', '{site}', 'jobs', 'sum', 'limit_slots',
     'Jobs that the limits of kind running allow, added up.'),
    ('limit_slots_used', 'Slots of limits used', '{site}', 'jobs', 'sum', 'limit_slots_used',
     'Jobs that count at these limits. A job counts at each of its limits.'),
    ('group_target', 'Target of a group', '{owner_group}', 'fraction', 'sum', 'group_target_ratio',
     'Share of an owner group, as a fraction of the shares of all groups that have jobs.'),
    ('group_use', 'Use of a group', '{owner_group}', 'fraction', 'sum', 'group_use_ratio',
     'Fraction of all leases that an owner group has.'),
    ('share_target', 'Target of a share', '{gshare}', 'fraction', 'sum', 'share_target_ratio',
     'Target of a global share, as a fraction of all running work.'),
    ('share_use', 'Use of a share', '{gshare}', 'fraction', 'sum', 'share_use_ratio',
     'Use of a global share, as a fraction of all running work.'),
    ('share_running', 'Running work of a share', '{gshare}', 'HS06', 'sum', 'share_running_hs06',
     'Running work of a global share.'),
    ('share_queued', 'Queued work of a share', '{gshare}', 'HS06', 'sum', 'share_queued_hs06',
     'Queued work of a global share.'),
    ('brokered_jobs', 'Jobs of tasks', '{queue,stage}', 'jobs', 'sum', 'brokered_jobs',
     'Jobs of tasks at a PanDA queue: waiting or running.'),
    ('rejections', 'Rejections', '{rule,algorithm}', 'pairs', 'sum', 'rejections',
     'Pairs of task and queue that the last run of a broker rejected; an estimate above 20,000.'),
    ('instances', 'Rented machines', '{type,state}', 'instances', 'sum', 'instances',
     'Rented machines that are not released.'),
    ('instance_cores', 'Cores of machines', '{type}', 'cores', 'sum', 'instance_cores',
     'Cores of the rented machines that are not released.'),
    ('instance_cores_used', 'Cores used', '{type}', 'cores', 'sum', 'instance_cores_used',
     'Cores of the rented machines that steps use.'),
    ('instance_price', 'Price of an hour', '{type}', 'price/h', 'sum', 'instance_price_per_hour',
     'Price of the rented machines that are not released, per hour.'),
    ('instance_cost', 'Cost of machines', '{type}', 'price', 'sum', 'instance_cost',
     'Cost of the rented machines that are not released, since they were requested.'),
    ('findings', 'Findings', '{area,verdict}', 'findings', 'sum', 'findings',
     'Findings of `broker doctor`: problems and advice, for the whole server.')
  ) f (figure, title, labels, unit, fold, metric, meaning);

comment on view history.figure is
  'Figures that are sampled each minute (history.sample); history.figure_over shows them over time, and each is a '
  'metric at /metrics.';
comment on column history.figure.figure is 'Name of the figure.';
comment on column history.figure.labels is 'Labels of its series. The first has the most values.';
comment on column history.figure.unit is 'Unit of its values.';
comment on column history.figure.fold is 'How the values of several series become one: sum, or max.';
comment on column history.figure.metric is 'Name of its metric for Prometheus.';
comment on column history.figure.meaning is 'Meaning of the figure.';
comment on column history.figure.title is 'Short name for people.';
