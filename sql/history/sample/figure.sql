-- Names, labels and units of what is sampled. A figure whose fold is max is that of the largest series where several
-- are shown as one; all others are added up.
create or replace view history.figure as
select f.figure, f.labels, f.unit, f.fold, 'pgbroker_' || f.metric as metric, f.meaning
  from (values
    ('jobs_waiting', '{owner_group,reason}'::text[], 'jobs', 'sum', 'jobs_waiting', 'Jobs that wait in TaskQueues.'),
    ('jobs_waiting_at_site', '{site,reason}', 'jobs', 'sum', 'jobs_waiting_at_site',
     'Jobs that wait in TaskQueues, at each site that may run them. The numbers overlap.'),
    ('task_queues', '{owner_group,reason}', 'TaskQueues', 'sum', 'task_queues',
     'TaskQueues, by why their oldest job waits that is not held.'),
    ('oldest_wait', '{owner_group}', 's', 'max', 'oldest_wait_seconds', 'How long the oldest job waits.'),
    ('leases', '{owner_group,state}', 'jobs', 'sum', 'leases', 'Jobs that JobAgents have: matched or running.'),
    ('leases_at_site', '{site,state}', 'jobs', 'sum', 'leases_at_site',
     'Jobs that JobAgents have: matched or running.'),
    ('expired_leases', '{site}', 'jobs', 'sum', 'expired_leases',
     'Jobs whose JobAgents are silent for longer than their leases last.'),
    ('matches', '{owner_group}', 'jobs/min', 'sum', 'matches_per_minute', 'Matches.'),
    ('matches_at_site', '{site}', 'jobs/min', 'sum', 'matches_at_site_per_minute', 'Matches.'),
    ('ends', '{owner_group,outcome}', 'jobs/min', 'sum', 'ends_per_minute',
     'Ends of matched jobs; released and expired leases, too.'),
    ('ends_at_site', '{site,outcome}', 'jobs/min', 'sum', 'ends_at_site_per_minute',
     'Ends of matched jobs; released and expired leases, too.'),
    ('limits', '{site}', 'limits', 'sum', 'limits', 'Limits.'),
    ('limits_reached', '{site}', 'limits', 'sum', 'limits_reached', 'Limits that let no more jobs be matched.'),
    ('limit_slots', '{site}', 'jobs', 'sum', 'limit_slots', 'Jobs that the limits of kind running allow, added up.'),
    ('limit_slots_used', '{site}', 'jobs', 'sum', 'limit_slots_used',
     'Jobs that count at these limits. A job counts at each of its limits.'),
    ('group_target', '{owner_group}', 'fraction', 'sum', 'group_target_ratio',
     'Share of an owner group, as a part of the shares of all groups that have jobs.'),
    ('group_use', '{owner_group}', 'fraction', 'sum', 'group_use_ratio', 'Part of all leases that an owner group has.'),
    ('share_target', '{gshare}', 'fraction', 'sum', 'share_target_ratio',
     'Part of all that runs that a global share is to have.'),
    ('share_use', '{gshare}', 'fraction', 'sum', 'share_use_ratio', 'Part of all that runs that a global share has.'),
    ('share_running', '{gshare}', 'HS06', 'sum', 'share_running_hs06', 'What runs of a global share.'),
    ('share_queued', '{gshare}', 'HS06', 'sum', 'share_queued_hs06', 'What is queued of a global share.'),
    ('brokered_jobs', '{queue,stage}', 'jobs', 'sum', 'brokered_jobs',
     'Jobs of tasks at a PanDA queue: waiting or running.'),
    ('rejections', '{rule,algorithm}', 'pairs', 'sum', 'rejections',
     'Pairs of task and queue that the last run of a broker rejected; of more than 20,000 an estimate.'),
    ('instances', '{type,state}', 'instances', 'sum', 'instances', 'Rented machines that are not released.'),
    ('instance_cores', '{type}', 'cores', 'sum', 'instance_cores', 'Cores of the rented machines.'),
    ('instance_cores_used', '{type}', 'cores', 'sum', 'instance_cores_used', 'Cores that steps use on them.'),
    ('instance_price', '{type}', 'price/h', 'sum', 'instance_price_per_hour', 'Price of an hour of them.'),
    ('instance_cost', '{type}', 'price', 'sum', 'instance_cost', 'Cost of them since they were requested.'),
    ('findings', '{area,verdict}', 'findings', 'sum', 'findings',
     'What `broker doctor` finds: problems and advice, of the whole server.')
  ) f (figure, labels, unit, fold, metric, meaning);

comment on view history.figure is
  'What is sampled each minute (history.sample), over time in history.figure_over, and a metric at /metrics.';
comment on column history.figure.figure is 'Name of the figure.';
comment on column history.figure.labels is 'Labels of its series. The first has the most values.';
comment on column history.figure.unit is 'Unit of its values.';
comment on column history.figure.fold is 'How the values of several series become one: sum, or max.';
comment on column history.figure.metric is 'Name of its metric for Prometheus.';
comment on column history.figure.meaning is 'What it counts.';
