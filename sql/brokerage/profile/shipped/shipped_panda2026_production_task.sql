-- Rules of task brokerage in the base profile panda2026, in the order in which they are applied. Facts come last.
create or replace view brokerage.shipped_panda2026_production_task as
select v.rule, v.kind, v.position::float8 as position, v.function, v.criteria, v.temporary,
       v.parameters::jsonb as parameters, v.source
  from (values
    ('task-input-scan', 'task rule', 5, 'brokerage.rule_task_input_scan', null, false, '{"status": "pending"}',
     'rules/task-brokerage.md#task-input-scan'),
    ('task-nucleus-initial', 'candidate', 10, 'brokerage.candidate_nucleus', null, false,
     '{"as": "task-nucleus-list", "satellites": true}', 'rules/task-brokerage.md#task-nucleus-initial'),
    ('task-nucleus-list', 'row rule', 20, 'brokerage.rule_nucleus_status', '-status', false, '{}',
     'rules/task-brokerage.md#task-nucleus-list'),
    ('transfer-backlog', 'row rule', 30, 'brokerage.rule_transfer_backlog', '-transfer_backlog', false, '{}',
     'rules/task-brokerage.md#transfer-backlog'),
    ('nucleus-has-storage', 'row rule', 40, 'brokerage.rule_nucleus_has_storage_panda2026', '-match', false, '{}',
     'rules/task-brokerage.md#nucleus-has-storage'),
    ('nucleus-wan', 'row rule', 45, 'brokerage.rule_nucleus_wan', null, false, '{}',
     'rules/task-brokerage.md#nucleus-wan'),
    ('nucleus-space', 'row rule', 50, 'brokerage.rule_nucleus_space_panda2026', '-space', false, '{}',
     'rules/task-brokerage.md#nucleus-space'),
    ('task-job-check', 'row rule', 55, 'brokerage.rule_task_job_check', '-job', false,
     '{"last": "no-pilot", "without": ["link-blocked", "link-queue-cap", "nucleus-queue-cap", '
     '"nucleus-unwritable", "t1-weight", "full-chain-job", "transferring-limit"]}',
     'rules/task-brokerage.md#task-job-check'),
    ('task-locality-size', 'set rule', 60, 'brokerage.rule_task_locality_size', '-insize', false,
     '{"group": "task-locality", "inclusive": true, "current_priority": true, "period": true}',
     'rules/task-brokerage.md#task-locality-size'),
    ('task-locality-num', 'set rule', 70, 'brokerage.rule_task_locality_num', '-innum', false,
     '{"group": "task-locality", "inclusive": true, "current_priority": true, "period": true}',
     'rules/task-brokerage.md#task-locality-num'),
    ('full-chain-task', 'row rule', 80, 'brokerage.rule_full_chain_task_panda2026', '-full_chain', false, '{}',
     'rules/full-chain.md#full-chain-task'),
    ('task-weight-rw', 'weight', 90, 'brokerage.weight_remaining_work', null, false,
     '{"sees_assignments": true, "little_counts_1": true}', 'rules/task-weights.md#task-weight-rw'),
    ('task-weight-data', 'weight', 100, 'brokerage.weight_located_data', null, false,
     '{"if_holds": "task-locality", "period": true}', 'rules/task-weights.md#task-weight-data'),
    ('task-weight-tape', 'weight', 110, 'brokerage.weight_tape', null, false,
     '{"if_holds": "task-locality", "period": true}', 'rules/task-weights.md#task-weight-tape'),
    ('task-weight-space', 'weight', 120, 'brokerage.weight_nucleus_space_panda2026', null, false, '{}',
     'rules/task-weights.md#task-weight-space'),
    ('task-choice', 'choice', 130, null, null, false, '{"draw": true, "first_of_zeros": true}',
     'rules/task-weights.md#task-choice'),
    ('task-pending', 'pending', 140, null, null, false, '{"wait": "30 minutes"}', 'rules/task-weights.md#task-pending'),
    ('task-preset-nucleus', 'fact', 600, 'brokerage.facts_of_tasks', null, false, '{}',
     'rules/task-brokerage.md#task-preset-nucleus'),
    ('task-locality-disable', 'fact', 601, 'brokerage.may_be_elsewhere', null, false, '{}',
     'rules/task-brokerage.md#task-locality-disable'),
    ('task-locality-period', 'fact', 602, 'brokerage.needs_no_local_input', null, false, '{}',
     'rules/task-brokerage.md#task-locality-period'),
    ('task-data-locality', 'fact', 603, 'brokerage.facts_of_nucleus_pairs', null, false, '{}',
     'rules/task-brokerage.md#task-data-locality')
  ) v(rule, kind, position, function, criteria, temporary, parameters, source);

comment on view brokerage.shipped_panda2026_production_task is
  'Rules of task brokerage in the base profile panda2026; a part of brokerage.shipped_rule.';
