-- TIMEOUTS.md, Table of timeouts, base profile documented. No timeout applies at a queue that is paused or has
-- disableReassign in its catchall. Values that only few timeouts have are in the column more.
create or replace view lifecycle.timeout_documented as
select r.position, r.rule, r.statuses::text[] as statuses, r.clock, r.constant::interval as constant, r.action,
       r.more::jsonb as more, r.description
  from (values
    (10, 'pending', '{pending}', 'created', '1 hour', 'cancel',
     '{}',
     'pending for more than 1 h since it was created'),
    (20, 'defined', '{defined}', 'modified', '4 hours', 'rebroker',
     '{}',
     'defined, and not modified for more than 4 h'),
    (30, 'assigned', '{assigned}', 'modified', '12 hours', 'rebroker',
     '{}',
     'assigned, and not modified for more than 12 h'),
    (40, 'throttled', '{throttled}', 'created', '7 days', 'cancel',
     '{}',
     'throttled for more than 7 days since it was created'),
    (50, 'activated', '{activated}', 'modified', '2 days', 'rebroker',
     '{}',
     'activated, and not modified for more than 2 days'),
    (60, 'starting', '{starting}', 'state_changed', '2 days', 'rebroker',
     '{}',
     'starting for more than 2 days'),
    (70, 'inactive-highprio', '{activated}', 'modified', '4 hours', 'rebroker',
     '{"priority_from": 800, "conditions": ["idle"]}',
     'activated at priority 800 or more, not modified for more than 4 h, where no job has started for more than 2 '
     'h'),
    (80, 'inactive-highprio', '{starting}', 'state_changed', '4 hours', 'rebroker',
     '{"priority_from": 800, "conditions": ["idle"]}',
     'starting at priority 800 or more for more than 4 h, where no job has started for more than 2 h'),
    (90, 'sent', '{sent}', 'modified', '30 minutes', 'fail',
     '{"queue_setting": "lease_time"}',
     'sent more than 30 min ago (lease_time) and never started: a leased one goes back to its TaskQueue, and fails '
     'after 3 losses'),
    (100, 'running', '{running}', 'state_changed', '21 days', 'fail',
     '{}',
     'running for more than 21 days'),
    (110, 'heartbeat', '{running,starting}', 'modified', '2 hours', 'fail',
     '{"key_by_name": "watcher:HEARTBEAT_TIMEOUT_<workflow>", "queue_setting": "heartbeat_time"}',
     'running or starting, and silent for more than HEARTBEAT_TIMEOUT_<workflow> hours, else 2 h (heartbeat_time)'),
    (120, 'heartbeat-transferring', '{transferring}', 'modified', null, 'fail',
     '{"conditions": ["sub_status"], "key_by_name": "watcher:HEARTBEAT_TIMEOUT_<workflow>"}',
     'transferring with a sub status, and silent for more than HEARTBEAT_TIMEOUT_<workflow> hours; off where that '
     'is not set'),
    (130, 'holding', '{holding}', 'modified', '3 hours', 'fail',
     '{"priority_from": 800}',
     'holding at priority 800 or more, and not modified for more than 3 h'),
    (140, 'holding', '{holding}', 'modified', null, 'fail',
     '{"priority_to": 799, "key": "job_timeout:TIMEOUT_holding"}',
     'holding at a priority below 800, and not modified for more than TIMEOUT_holding hours (48)'),
    (150, 'transferring', '{transferring}', 'modified', null, 'fail',
     '{"priority_from": 800, "queue_column": "transtimehi"}',
     'transferring at priority 800 or more, and not modified for more than transtimehi days (of the queue; 0, -1 '
     'or none = off)'),
    (160, 'transferring', '{transferring}', 'modified', null, 'fail',
     '{"priority_to": 799, "queue_column": "transtimelo"}',
     'transferring at a priority below 800, and not modified for more than transtimelo days (of the queue; 0, -1 '
     'or none = off)')
  ) r (position, rule, statuses, clock, constant, action, more, description);

comment on view lifecycle.timeout_documented is
  'Timeouts of the base profile documented as they are written; lifecycle.timeout_rule explains the columns.';
comment on column lifecycle.timeout_documented.more is 'The other columns of lifecycle.timeout_rule.';
