-- TIMEOUTS.md, Table of timeouts, base profile panda2026. Values that only few timeouts have are in the column more.
-- Long because each timeout is a row with its description.
create or replace view lifecycle.timeout_panda2026 as
select r.position, r.rule, r.statuses::text[] as statuses, r.clock, r.constant::interval as constant, r.action,
       r.more::jsonb as more, r.description
  from (values
    (10, 'pending', '{pending}', 'created', '1 hour', 'cancel',
     '{}',
     'pending for more than 1 h since it was created'),
    (20, 'defined', '{defined}', 'modified', null, 'rebroker',
     '{"labels": ["managed", "test"], "conditions": ["task"], "key": "job_timeout:TIMEOUT_defined"}',
     'defined, of a task, label managed or test, and not modified for more than TIMEOUT_defined hours (4)'),
    (30, 'defined', '{defined}', 'created', null, 'cancel',
     '{"conditions": ["no_task"], "key": "job_timeout:TIMEOUT_defined"}',
     'defined, of no task, created more than TIMEOUT_defined hours (4) ago'),
    (40, 'assigned', '{pending,defined,assigned}', 'modified', '12 hours', 'rebroker',
     '{"labels": ["managed"]}',
     'not yet activated, label managed, and not modified for more than 12 h'),
    (50, 'assigned', '{pending,defined,assigned}', 'created', '7 days', 'cancel',
     '{}',
     'not yet activated, and created more than 7 days ago'),
    (60, 'throttled', '{throttled}', 'created', '7 days', 'cancel',
     '{}',
     'throttled for more than 7 days since it was created'),
    (70, 'activated', '{activated}', 'modified', '2 days', 'rebroker',
     '{"labels": ["managed"], "conditions": ["not_relocated"], "skipped_at": ["disableReassign"]}',
     'activated, label managed, relocation flag not 2, and not modified for more than 2 days'),
    (80, 'activated', '{activated}', 'created', '7 days', 'cancel',
     '{"skipped_at": ["disableReassign"]}',
     'activated, and created more than 7 days ago'),
    (90, 'starting', '{starting}', 'state_changed', '48 hours', 'rebroker',
     '{"labels": ["managed"], "skipped_at": ["disableReassign"]}',
     'starting for more than 48 h, label managed'),
    (100, 'inactive-highprio', '{activated}', 'modified', '4 hours', 'rebroker',
     '{"labels": ["managed"], "priority_from": 800, "conditions": ["task", "not_pmerge", "relocation_known", '
     '"idle_or_off"], "skipped_at": ["disableReassign"]}',
     'activated at priority 800 or more, of a task, label managed, not pmerge, relocation flag known and not 2, '
     'not modified for more than 4 h, at a queue that is idle, offline or test'),
    (110, 'inactive-highprio', '{starting}', 'state_changed', '4 hours', 'rebroker',
     '{"labels": ["managed"], "priority_from": 800, "conditions": ["task", "not_pmerge", "relocation_known", '
     '"idle_or_off"], "skipped_at": ["disableReassign"]}',
     'starting at priority 800 or more for more than 4 h, otherwise as the timeout above'),
    (120, 'sent', '{sent}', 'modified', '30 minutes', 'fail',
     '{"queue_setting": "lease_time"}',
     'sent more than 30 min ago (lease_time) and never started: a leased one goes back to its TaskQueue, and fails '
     'after 3 losses'),
    (130, 'running', '{throttled,activated,sent,starting,running,holding,transferring}',
     'created', '21 days', 'fail',
     '{}',
     'activated or later, and created more than 21 days ago'),
    (140, 'heartbeat', '{running,starting}', 'modified', '2 hours', 'fail',
     '{"not_labels": ["user", "panda"], "key_by_name": "watcher:HEARTBEAT_TIMEOUT_<queue workflow>", '
     '"key": "watcher:HEARTBEAT_TIMEOUT_production", "queue_setting": "heartbeat_time", '
     '"skipped_at": ["paused"]}',
     'running or starting, label neither user nor panda, silent for more than HEARTBEAT_TIMEOUT_<queue '
     'workflow> hours, '
     'else HEARTBEAT_TIMEOUT_production, else 2 h (heartbeat_time)'),
    (150, 'heartbeat', '{running,starting}', 'modified', '2 hours', 'fail',
     '{"labels": ["user", "panda"], "key": "watcher:HEARTBEAT_TIMEOUT_analysis", '
     '"queue_setting": "heartbeat_time"}',
     'running or starting, label user or panda, and silent for more than HEARTBEAT_TIMEOUT_analysis hours, else 2 '
     'h (heartbeat_time)'),
    (160, 'heartbeat-transferring', '{transferring}', 'modified', '2 hours', 'fail',
     '{"labels": ["user", "panda"], "conditions": ["sub_status"], "key": "watcher:HEARTBEAT_TIMEOUT_analysis", '
     '"queue_setting": "heartbeat_time"}',
     'transferring with a sub status, label user or panda, and silent for more than HEARTBEAT_TIMEOUT_analysis '
     'hours, else 2 h (heartbeat_time)'),
    (170, 'holding', '{holding}', 'modified', '3 hours', 'fail',
     '{"priority_from": 801}',
     'holding at a priority above 800, and not modified for more than 3 h'),
    (180, 'holding', '{holding}', 'modified', '3 hours', 'fail',
     '{"labels": ["user", "panda"], "conditions": ["changed_since"]}',
     'holding, label user or panda, modified since it began to hold, and not for more than 3 h'),
    (190, 'holding', '{holding}', 'modified', null, 'fail',
     '{"key": "job_timeout:TIMEOUT_holding"}',
     'holding, and not modified for more than TIMEOUT_holding hours (48)'),
    (200, 'transferring', '{transferring}', 'modified', null, 'fail',
     '{"priority_from": 800, "queue_column": "transtimehi"}',
     'transferring at priority 800 or more, and not modified for more than transtimehi days (of the queue; 0, -1 '
     'or none = off)'),
    (210, 'transferring', '{transferring}', 'modified', null, 'fail',
     '{"priority_to": 799, "queue_column": "transtimelo"}',
     'transferring at a priority below 800, and not modified for more than transtimelo days (of the queue; 0, -1 '
     'or none = off)'),
    (220, 'analysis-rebroker', '{defined,assigned,activated,starting}', 'waiting', null, 'rebroker',
     '{"labels": ["user", "panda"], "conditions": ["queue_on", "still"], '
     '"key_by_name": "rebroker:ANALY_TIMEOUT_<group>", "key": "rebroker:ANALY_TIMEOUT"}',
     'label user or panda, activated or created more than ANALY_TIMEOUT_<group> (ANALY_TIMEOUT, 12) hours ago, queue '
     'neither offline nor test, no job of its task there changed in 3 h'),
    (230, 'analysis-rebroker', '{defined,assigned,activated,starting}', 'waiting', '3 hours', 'rebroker',
     '{"labels": ["user", "panda"], "conditions": ["queue_off"]}',
     'label user or panda, activated (else created) more than 3 h ago, at a queue that is offline or test'),
    (240, 'analysis-old', '{throttled,activated,sent,starting,running,holding,transferring}',
     'modified', '7 days', 'cancel',
     '{"labels": ["test", "panda", "user"]}',
     'activated or later, label test, panda or user, and not modified for more than 7 days')
  ) r (position, rule, statuses, clock, constant, action, more, description);

comment on view lifecycle.timeout_panda2026 is
  'Timeouts of the base profile panda2026 as they are written; lifecycle.timeout_rule explains the columns.';
comment on column lifecycle.timeout_panda2026.more is 'The other columns of lifecycle.timeout_rule.';
