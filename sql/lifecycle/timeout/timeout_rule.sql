-- lifecycle.md, Timeouts: every rule of both profiles. lifecycle.judge_timeouts reads them, to decide and to explain;
-- a rule with two limits is two rows. documented is brokerage-doc-profile 5, panda2026 the column code of
-- brokerage-rules 1.7. The limit is the first there is of: the key by name, the key, the column of the queue, the
-- setting of the TaskQueues, the constant; none: the rule is off.
create or replace view lifecycle.timeout_rule as
select r.profile, r.position, r.rule, r.statuses::text[] as statuses, r.labels::text[] as labels,
       r.not_labels::text[] as not_labels, r.priority_from, r.priority_to,
       r.conditions::text[] as conditions, r.clock, r.key_by_name, r.key, r.queue_column, r.queue_setting,
       r.constant::interval as constant, r.unit::interval as unit, r.action,
       r.skipped_at::text[] as skipped_at, r.description, r.source
  from (values
    ('documented', 1, 'pending', '{pending}', null, null, null::int, null::int, '{}', 'created', null, null, null, null,
     '1 hour', null, 'cancel', '{paused,disableReassign}',
     'pending for more than 1 h since it was created', 'to-pending'),
    ('documented', 2, 'defined', '{defined}', null, null, null, null, '{}', 'modified', null, null, null, null,
     '4 hours', null, 'rebroker', '{paused,disableReassign}',
     'defined, and not modified for more than 4 h', 'to-defined'),
    ('documented', 3, 'assigned', '{assigned}', null, null, null, null, '{}', 'modified', null, null, null, null,
     '12 hours', null, 'rebroker', '{paused,disableReassign}',
     'assigned, and not modified for more than 12 h', 'to-assigned'),
    ('documented', 4, 'throttled', '{throttled}', null, null, null, null, '{}', 'created', null, null, null, null,
     '7 days', null, 'cancel', '{paused,disableReassign}',
     'throttled for more than 7 days since it was created', 'to-throttled'),
    ('documented', 5, 'activated', '{activated}', null, null, null, null, '{}', 'modified', null, null, null, null,
     '2 days', null, 'rebroker', '{paused,disableReassign}',
     'activated, and not modified for more than 2 days', 'to-activated'),
    ('documented', 6, 'starting', '{starting}', null, null, null, null, '{}', 'state_changed', null, null, null, null,
     '2 days', null, 'rebroker', '{paused,disableReassign}',
     'starting for more than 2 days', 'to-starting'),
    ('documented', 7, 'inactive-highprio', '{activated}', null, null, 800, null, '{idle}', 'modified', null, null, null,
     null, '4 hours', null, 'rebroker', '{paused,disableReassign}',
     'activated at priority 800 or more, not modified for more than 4 h, where no job has started for more than 2 h',
     'to-inactive-highprio'),
    ('documented', 8, 'inactive-highprio', '{starting}', null, null, 800, null, '{idle}', 'state_changed', null, null,
     null, null, '4 hours', null, 'rebroker', '{paused,disableReassign}',
     'starting at priority 800 or more for more than 4 h, where no job has started for more than 2 h',
     'to-inactive-highprio'),
    ('documented', 9, 'sent', '{sent}', null, null, null, null, '{}', 'modified', null, null, null, 'lease_time',
     '30 minutes', null, 'fail', '{paused,disableReassign}',
     'sent more than 30 min ago (lease_time) and never started: a leased one goes back to its TaskQueue, '
     'and fails after 3 attempts', 'to-sent'),
    ('documented', 10, 'running', '{running}', null, null, null, null, '{}', 'created', null, null, null, null,
     '21 days', null, 'fail', '{paused,disableReassign}',
     'running, and created more than 21 days ago', 'to-running'),
    ('documented', 11, 'heartbeat', '{running,starting}', null, null, null, null, '{}', 'modified',
     'watcher:HEARTBEAT_TIMEOUT_<workflow>', null, null, 'heartbeat_time', '2 hours', '1 hour',
     'fail', '{paused,disableReassign}',
     'running or starting, and silent for more than HEARTBEAT_TIMEOUT_<workflow> hours, else 2 h (heartbeat_time)',
     'to-heartbeat'),
    ('documented', 12, 'heartbeat-transferring', '{transferring}', null, null, null, null, '{sub_status}', 'modified',
     'watcher:HEARTBEAT_TIMEOUT_<workflow>', null, null, null, null, '1 hour',
     'fail', '{paused,disableReassign}',
     'transferring with a sub status, and silent for more than HEARTBEAT_TIMEOUT_<workflow> hours; '
     'off where that is not set',
     'to-heartbeat-transferring'),
    ('documented', 13, 'holding', '{holding}', null, null, 800, null, '{}', 'modified', null, null, null, null,
     '3 hours', null, 'fail', '{paused,disableReassign}',
     'holding at priority 800 or more, and not modified for more than 3 h', 'to-holding'),
    ('documented', 14, 'holding', '{holding}', null, null, null, 799, '{}', 'modified', null,
     'job_timeout:TIMEOUT_holding', null, null, null, '1 hour', 'fail', '{paused,disableReassign}',
     'holding at a priority below 800, and not modified for more than TIMEOUT_holding hours (48)', 'to-holding'),
    ('documented', 15, 'transferring', '{transferring}', null, null, 800, null, '{}', 'modified', null, null,
     'transtimehi', null, null, '1 day', 'fail', '{paused,disableReassign}',
     'transferring at priority 800 or more, and not modified for more than transtimehi days (of the queue; 0, '
     '-1 or none = off)', 'to-transferring'),
    ('documented', 16, 'transferring', '{transferring}', null, null, null, 799, '{}', 'modified', null, null,
     'transtimelo', null, null, '1 day', 'fail', '{paused,disableReassign}',
     'transferring at a priority below 800, and not modified for more than transtimelo days (of the queue; 0, '
     '-1 or none = off)', 'to-transferring'),

    ('panda2026', 1, 'pending', '{pending}', null, null, null, null, '{}', 'created', null, null, null, null,
     '1 hour', null, 'cancel', '{}',
     'pending for more than 1 h since it was created', 'to-pending'),
    ('panda2026', 2, 'defined', '{defined}', '{managed,test}', null, null, null, '{task}', 'modified', null,
     'job_timeout:TIMEOUT_defined', null, null, null, '1 hour', 'rebroker', '{}',
     'defined, of a task, label managed or test, and not modified for more than TIMEOUT_defined hours (4)',
     'to-defined'),
    ('panda2026', 3, 'defined', '{defined}', null, null, null, null, '{no_task}', 'created', null,
     'job_timeout:TIMEOUT_defined', null, null, null, '1 hour', 'cancel', '{}',
     'defined, of no task, and created more than TIMEOUT_defined hours (4) ago', 'to-defined'),
    ('panda2026', 4, 'assigned', '{pending,defined,assigned}', '{managed}', null, null, null, '{}', 'modified', null,
     null, null, null, '12 hours', null, 'rebroker', '{}',
     'not activated yet, label managed, and not modified for more than 12 h', 'to-assigned'),
    ('panda2026', 5, 'assigned', '{pending,defined,assigned}', null, null, null, null, '{}', 'created', null, null,
     null, null, '7 days', null, 'cancel', '{}',
     'not activated yet, and created more than 7 days ago', 'to-assigned'),
    ('panda2026', 6, 'throttled', '{throttled}', null, null, null, null, '{}', 'created', null, null, null, null,
     '7 days', null, 'cancel', '{}',
     'throttled for more than 7 days since it was created', 'to-throttled'),
    ('panda2026', 7, 'activated', '{activated}', '{managed}', null, null, null, '{not_relocated}', 'modified', null,
     null, null, null, '2 days', null, 'rebroker', '{disableReassign}',
     'activated, label managed, relocation flag not 2, and not modified for more than 2 days', 'to-activated'),
    ('panda2026', 8, 'activated', '{activated}', null, null, null, null, '{}', 'created', null, null, null, null,
     '7 days', null, 'cancel', '{disableReassign}',
     'activated, and created more than 7 days ago', 'to-activated'),
    ('panda2026', 9, 'starting', '{starting}', '{managed}', null, null, null, '{}', 'state_changed', null, null, null,
     null, '48 hours', null, 'rebroker', '{disableReassign}',
     'starting for more than 48 h, label managed', 'to-starting'),
    ('panda2026', 10, 'inactive-highprio', '{activated}', '{managed}', null, 800, null,
     '{task,not_pmerge,relocation_known,idle_or_off}', 'modified', null, null, null, null, '4 hours', null,
     'rebroker', '{disableReassign}',
     'activated at priority 800 or more, of a task, label managed, not pmerge, relocation flag known and not 2, '
     'not modified for more than 4 h, where no job has started for more than 2 h or the queue is offline or test',
     'to-inactive-highprio'),
    ('panda2026', 11, 'inactive-highprio', '{starting}', '{managed}', null, 800, null,
     '{task,not_pmerge,relocation_known,idle_or_off}', 'state_changed', null, null, null, null, '4 hours',
     null, 'rebroker', '{disableReassign}', 'the like of those that have been starting for more than 4 h',
     'to-inactive-highprio'),
    ('panda2026', 12, 'sent', '{sent}', null, null, null, null, '{}', 'modified', null, null, null, 'lease_time',
     '30 minutes', null, 'fail', '{}',
     'sent more than 30 min ago (lease_time) and never started: a leased one goes back to its TaskQueue, '
     'and fails after 3 attempts', 'to-sent'),
    ('panda2026', 13, 'running', '{throttled,activated,sent,starting,running,holding,transferring}', null, null, null,
     null, '{}', 'created', null, null, null, null, '21 days', null,
     'fail', '{}', 'activated or more, and created more than 21 days ago', 'to-running'),
    ('panda2026', 14, 'heartbeat', '{running,starting}', null, '{user,panda}', null, null, '{}', 'modified',
     'watcher:HEARTBEAT_TIMEOUT_<queue workflow>',
     'watcher:HEARTBEAT_TIMEOUT_production', null, 'heartbeat_time', '2 hours', '1 hour', 'fail', '{paused}',
     'running or starting, label neither user nor panda, and silent for more than HEARTBEAT_TIMEOUT_<workflow of the '
     'queue> hours, else HEARTBEAT_TIMEOUT_production, else 2 h (heartbeat_time)',
     'to-heartbeat'),
    ('panda2026', 15, 'heartbeat', '{running,starting}', '{user,panda}', null, null, null, '{}', 'modified', null,
     'watcher:HEARTBEAT_TIMEOUT_analysis', null, 'heartbeat_time', '2 hours',
     '1 hour', 'fail', '{}', 'running or starting, label user or panda, and silent for more than '
                             'HEARTBEAT_TIMEOUT_analysis hours, else 2 h (heartbeat_time)', 'to-heartbeat'),
    ('panda2026', 16, 'heartbeat-transferring', '{transferring}', '{user,panda}', null, null, null, '{sub_status}',
     'modified', null, 'watcher:HEARTBEAT_TIMEOUT_analysis', null,
     'heartbeat_time', '2 hours', '1 hour', 'fail', '{}',
     'transferring with a sub status, label user or panda, and silent for more than HEARTBEAT_TIMEOUT_analysis hours, '
     'else 2 h (heartbeat_time)',
     'to-heartbeat-transferring'),
    ('panda2026', 17, 'holding', '{holding}', null, null, 801, null, '{}', 'modified', null, null, null, null,
     '3 hours', null, 'fail', '{}',
     'holding at a priority above 800, and not modified for more than 3 h', 'to-holding'),
    ('panda2026', 18, 'holding', '{holding}', '{user,panda}', null, null, null, '{changed_since}', 'modified', null,
     null, null, null, '3 hours', null, 'fail', '{}',
     'holding, label user or panda, modified since it began to hold, and not for more than 3 h', 'to-holding'),
    ('panda2026', 19, 'holding', '{holding}', null, null, null, null, '{}', 'modified', null,
     'job_timeout:TIMEOUT_holding', null, null, null, '1 hour', 'fail', '{}',
     'holding, and not modified for more than TIMEOUT_holding hours (48)', 'to-holding'),
    ('panda2026', 20, 'transferring', '{transferring}', null, null, 800, null, '{}', 'modified', null, null,
     'transtimehi', null, null, '1 day', 'fail', '{}',
     'transferring at priority 800 or more, and not modified for more than transtimehi days (of the queue; 0, '
     '-1 or none = off)', 'to-transferring'),
    ('panda2026', 21, 'transferring', '{transferring}', null, null, null, 799, '{}', 'modified', null, null,
     'transtimelo', null, null, '1 day', 'fail', '{}',
     'transferring at a priority below 800, and not modified for more than transtimelo days (of the queue; 0, '
     '-1 or none = off)', 'to-transferring'),
    ('panda2026', 22, 'analysis-rebroker', '{defined,assigned,activated,starting}', '{user,panda}', null, null, null,
     '{queue_on,still}', 'waiting', 'rebroker:ANALY_TIMEOUT_<group>',
     'rebroker:ANALY_TIMEOUT', null, null, null, '1 hour', 'rebroker', '{}',
     'label user or panda, activated (else created) more than ANALY_TIMEOUT_<working group> hours ago, '
     'else ANALY_TIMEOUT (12), at a queue neither offline nor test, and no job of its task there changed '
     'in the last 3 h',
     'to-analysis-rebroker'),
    ('panda2026', 23, 'analysis-rebroker', '{defined,assigned,activated,starting}', '{user,panda}', null, null, null,
     '{queue_off}', 'waiting', null, null, null, null, '3 hours', null,
     'rebroker', '{}', 'label user or panda, activated (else created) more than 3 h ago, at a queue that is '
                       'offline or test', 'to-analysis-rebroker'),
    ('panda2026', 24, 'analysis-old', '{throttled,activated,sent,starting,running,holding,transferring}',
     '{test,panda,user}', null, null, null, '{}', 'modified', null, null, null, null,
     '7 days', null, 'cancel', '{}',
     'activated or more, label test, panda or user, and not modified for more than 7 days', 'to-analysis-old')
  ) r (profile, position, rule, statuses, labels, not_labels, priority_from, priority_to, conditions, clock,
       key_by_name, key, queue_column, queue_setting, constant, unit, action, skipped_at,
       description, source);

comment on view lifecycle.timeout_rule is
  'Timeouts by profile, in the order in which they are looked at: the first that a job is overdue by applies. '
  'An age must be above its limit.';
comment on column lifecycle.timeout_rule.profile is 'documented or panda2026.';
comment on column lifecycle.timeout_rule.position is 'Place in the order.';
comment on column lifecycle.timeout_rule.rule is 'Name; the sub status of jobs that it ends.';
comment on column lifecycle.timeout_rule.statuses is 'Statuses of the jobs that it looks at.';
comment on column lifecycle.timeout_rule.labels is 'Labels of them; null = all.';
comment on column lifecycle.timeout_rule.not_labels is 'Labels that are left out; null = none.';
comment on column lifecycle.timeout_rule.priority_from is 'Least priority; null = any. A job without one has 0.';
comment on column lifecycle.timeout_rule.priority_to is 'Highest priority; null = any.';
comment on column lifecycle.timeout_rule.conditions is
  'What else must hold: sub_status (it has one), task, no_task, not_pmerge, not_relocated (flag not 2), '
  'relocation_known (the same, and known), changed_since (modified after the last change of its status), '
  'idle (the last start of its queue is known and more than 2 h ago), idle_or_off (or it is offline or test), '
  'queue_on, queue_off (offline or test), still (no job of its task at its queue changed in the last 3 h, '
  'but to closed, failed or starting).';
comment on column lifecycle.timeout_rule.clock is
  'Since when the age counts: created, modified (for a leased job at least the last that was heard of it), '
  'state_changed, or waiting (activated, else created).';
comment on column lifecycle.timeout_rule.key_by_name is
  'Configuration of pandaserver that says the limit for a workflow or a group, component:KEY; null = none.';
comment on column lifecycle.timeout_rule.key is 'Configuration that says it where that does not; null = none.';
comment on column lifecycle.timeout_rule.queue_column is 'Column of resource.queue that says it; null = none.';
comment on column lifecycle.timeout_rule.queue_setting is 'Column of taskqueue.setting that says it; null = none.';
comment on column lifecycle.timeout_rule.constant is 'Limit where nothing else says one; null = then it is off.';
comment on column lifecycle.timeout_rule.unit is 'Unit of the configuration or the queue''s column.';
comment on column lifecycle.timeout_rule.action is
  'cancel (the job is cancelled), rebroker (closed, its work goes back to its task), fail; a leased job that was sent '
  'is returned to its TaskQueue first.';
comment on column lifecycle.timeout_rule.skipped_at is
  'Where it does not apply: at paused queues, at queues with disableReassign in their catchall.';
comment on column lifecycle.timeout_rule.description is 'What it says.';
comment on column lifecycle.timeout_rule.source is 'Its id in brokerage-rules 1.7.';
