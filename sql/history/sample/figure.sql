-- Names, labels and units of what is sampled. A figure whose fold is max is that of the largest series where several
-- are shown as one; all others are added up.
create or replace view history.figure as
select f.figure, f.labels, f.unit, f.fold, f.meaning
  from (values
    ('jobs_waiting', '{owner_group,reason}'::text[], 'jobs', 'sum', 'Jobs that wait in TaskQueues.'),
    ('jobs_waiting_at_site', '{site,reason}', 'jobs', 'sum',
     'Jobs that wait in TaskQueues, at each site that may run them. The numbers overlap.'),
    ('oldest_wait', '{owner_group}', 's', 'max', 'How long the oldest job waits.'),
    ('leases', '{owner_group,state}', 'jobs', 'sum', 'Jobs that JobAgents have: matched or running.'),
    ('leases_at_site', '{site,state}', 'jobs', 'sum', 'Jobs that JobAgents have: matched or running.'),
    ('matches', '{owner_group}', 'jobs/min', 'sum', 'Matches.'),
    ('matches_at_site', '{site}', 'jobs/min', 'sum', 'Matches.'),
    ('ends', '{owner_group,outcome}', 'jobs/min', 'sum', 'Ends of matched jobs; released and expired leases, too.'),
    ('ends_at_site', '{site,outcome}', 'jobs/min', 'sum',
     'Ends of matched jobs; released and expired leases, too.'),
    ('group_target', '{owner_group}', 'fraction', 'sum',
     'Share of an owner group, as a part of the shares of all groups that have jobs.'),
    ('group_use', '{owner_group}', 'fraction', 'sum', 'Part of all leases that an owner group has.'),
    ('share_target', '{gshare}', 'fraction', 'sum', 'Part of all that runs that a global share is to have.'),
    ('share_use', '{gshare}', 'fraction', 'sum', 'Part of all that runs that a global share has.'),
    ('brokered_jobs', '{queue,stage}', 'jobs', 'sum', 'Jobs of tasks at a PanDA queue: waiting or running.'),
    ('rejections', '{algorithm,rule}', 'pairs', 'sum',
     'Pairs of task and queue that the last run of a broker rejected.'),
    ('instances', '{type,state}', 'instances', 'sum', 'Rented machines that are not released.'),
    ('instance_price', '{type}', 'price/h', 'sum', 'Price of an hour of the rented machines.')
  ) f (figure, labels, unit, fold, meaning);

comment on view history.figure is 'What is sampled each minute (history.sample), and over time in history.figure_over.';
comment on column history.figure.figure is 'Name of the figure.';
comment on column history.figure.labels is 'Labels of its series.';
comment on column history.figure.unit is 'Unit of its values.';
comment on column history.figure.fold is 'How the values of several series become one: sum, or max.';
comment on column history.figure.meaning is 'What it counts.';
