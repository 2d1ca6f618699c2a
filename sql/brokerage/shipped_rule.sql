-- The rules of the profiles that come with the program, in the order in which they are asked (brokerage-doc-profile, sections 1 and 7; brokerage-rules 1.2).
-- Where a rule has several criteria the column is null and the reasons begin with theirs.
create or replace view brokerage.shipped_rule as
select v.profile, 'production_job' as algorithm, v.rule, v.kind, v.position::float8 as position, v.function, v.criteria, v.temporary,
       true as enabled, v.parameters::jsonb as parameters, v.source
  from (values
    ('doc', 'prod-initial-all', 'candidate', 10, 'brokerage.candidate_all', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 1'),
    ('doc', 'prod-initial-preassigned', 'candidate', 20, 'brokerage.candidate_preassigned', null, false, '{"by": "prod-initial-preassigned"}', 'seed 000, ATLAS Production Job Brokerage, 1'),
    ('doc', 'preassigned-merge', 'candidate', 30, 'brokerage.candidate_preassigned', null, false, '{"by": "preassigned-merge"}', 'seed 000, ATLAS Production Job Brokerage, 1'),
    ('doc', 'queue-status', 'row rule', 40, 'brokerage.rule_queue_status', '-status', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'link-blocked', 'row rule', 50, 'brokerage.rule_link_blocked', '-link_unusable', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'link-queue-cap', 'row rule', 60, 'brokerage.rule_link_queue_cap', '-link_unusable', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'nucleus-queue-cap', 'row rule', 70, 'brokerage.rule_nucleus_queue_cap', '-links_full', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'high-prio-opportunistic', 'row rule', 80, 'brokerage.rule_high_prio_opportunistic', '-opportunistic', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'inactive-queue', 'row rule', 90, 'brokerage.rule_inactive_queue', '-inactive', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'zero-share', 'row rule', 100, 'brokerage.rule_zero_share', '-zeroshare', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'io-cutoff', 'row rule', 110, 'brokerage.rule_io_cutoff', '-io', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'disk-io', 'row rule', 120, 'brokerage.rule_disk_io', '-diskIO', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'core-count', 'row rule', 130, 'brokerage.rule_core_count', '-cpucore', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'max-core-count', 'row rule', 140, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'software', 'row rule', 150, 'brokerage.rule_software', '-cache', false, '{}', 'seed 000, Release/cache Availability Check'),
    ('doc', 'memory', 'row rule', 160, 'brokerage.rule_memory', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'direct-io-only', 'row rule', 170, 'brokerage.rule_direct_io_only', '-remoteio', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'scratch-disk', 'row rule', 180, 'brokerage.rule_scratch_disk', '-disk', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'storage-space', 'row rule', 190, 'brokerage.rule_storage_space', '-disk', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'storage-blacklist', 'row rule', 200, 'brokerage.rule_storage_blacklist', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'walltime-scout', 'row rule', 210, 'brokerage.rule_walltime_scout', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'walltime', 'row rule', 220, 'brokerage.rule_walltime', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'wn-connectivity', 'row rule', 230, 'brokerage.rule_wn_connectivity', '-network', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'event-service', 'row rule', 240, 'brokerage.rule_event_service', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'transferring-limit', 'row rule', 250, 'brokerage.rule_transferring_limit', '-transferring', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 't1-weight', 'row rule', 260, 'brokerage.rule_t1_weight', '-t1weight', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'full-chain-job', 'row rule', 270, 'brokerage.rule_full_chain_job', null, false, '{}', 'seed 000, Special Brokerage for ATLAS Full-chain'),
    ('doc', 'no-pilot', 'row rule', 280, 'brokerage.rule_no_pilot', '-nopilot', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'express-network-threshold', 'row rule', 290, 'brokerage.rule_express_network_threshold', '-lowNetworkWeight', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'weight-basic', 'weight', 300, 'brokerage.weight_basic', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 3'),
    ('doc', 'weight-data', 'weight', 310, 'brokerage.weight_data', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 3'),
    ('doc', 'network-weight', 'weight', 320, 'brokerage.weight_network', null, false, '{}', 'seed 000, Network Weight'),
    ('doc', 'cap', 'row rule', 330, 'brokerage.rule_cap', '-cap', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 4'),
    ('doc', 'top-10', 'choice', 340, null, '-low_weight', false, '{"best": 10}', 'seed 000, ATLAS Production Job Brokerage, 5'),
    ('doc', 'queued-jobs', 'distribution', 350, 'brokerage.queued_jobs', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'running-jobs-cap', 'distribution', 360, 'brokerage.running_jobs_cap', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'job-chunk', 'distribution', 370, 'brokerage.job_chunk', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'prod-pending', 'pending', 380, null, null, false, '{"wait": "1 hour"}', 'seed 000, ATLAS Production Job Brokerage, 5'),
    ('panda2026', 'prod-initial-all', 'candidate', 10, 'brokerage.candidate_all_panda2026', null, false, '{}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'prod-initial-preassigned', 'candidate', 20, 'brokerage.candidate_preassigned', null, false, '{"by": "prod-initial-preassigned"}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'preassigned-merge', 'candidate', 30, 'brokerage.candidate_preassigned', null, false, '{"by": "preassigned-merge"}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'queue-status', 'row rule', 40, 'brokerage.rule_queue_status', '-status', false, '{"standby": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'link-blocked', 'row rule', 50, 'brokerage.rule_link_blocked', '-link_unusable', false, '{"inclusive": true, "spares_own": true, "urgent_alone": true, "nucleus_first": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'link-queue-cap', 'row rule', 60, 'brokerage.rule_link_queue_cap', '-link_unusable', true, '{"inclusive": true, "spares_own": true, "urgent_alone": true, "nucleus_first": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'nucleus-queue-cap', 'row rule', 70, 'brokerage.rule_nucleus_queue_cap', '-links_full', true, '{"inclusive": true, "spares_own": true, "urgent_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'nucleus-unwritable', 'row rule', 80, 'brokerage.rule_nucleus_unwritable', '-dest_blacklisted', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'high-prio-opportunistic', 'row rule', 90, 'brokerage.rule_high_prio_opportunistic_panda2026', '-opportunistic', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'inactive-queue', 'row rule', 100, 'brokerage.rule_inactive_queue', '-inactive', true, '{"starting": true, "spares_preassigned": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'zero-share', 'row rule', 110, 'brokerage.rule_zero_share', '-zeroshare', false, '{}', 'code (brokerage-rules 1.9)'),
    ('panda2026', 'jumbo-queue', 'row rule', 120, 'brokerage.rule_jumbo_queue', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'disk-io', 'row rule', 130, 'brokerage.rule_disk_io_panda2026', '-diskIO', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'core-count', 'row rule', 140, 'brokerage.rule_core_count', '-cpucore', false, '{"urgent_wants_several": true, "spares_preassigned_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'max-core-count', 'row rule', 150, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{"spares_preassigned_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'software', 'row rule', 160, 'brokerage.rule_software', '-cache', false, '{"as_prepared": true}', 'code (brokerage-rules 1.8)'),
    ('panda2026', 'memory', 'row rule', 170, 'brokerage.rule_memory_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'direct-io-only', 'row rule', 180, 'brokerage.rule_direct_io_only', '-remoteio', false, '{"spares_merging": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'scratch-disk', 'row rule', 190, 'brokerage.rule_scratch_disk_panda2026', '-disk', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'storage-space', 'row rule', 200, 'brokerage.rule_storage_space_panda2026', '-disk', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'storage-blacklist', 'row rule', 210, 'brokerage.rule_storage_blacklist_panda2026', null, true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'walltime', 'row rule', 220, 'brokerage.rule_walltime_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'walltime-scout', 'row rule', 230, 'brokerage.rule_walltime_scout_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'wn-connectivity', 'row rule', 240, 'brokerage.rule_wn_connectivity_panda2026', '-network', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'event-service', 'row rule', 250, 'brokerage.rule_event_service', null, false, '{"spares_preassigned_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'transferring-limit', 'row rule', 260, 'brokerage.rule_transferring_limit_panda2026', '-transferring', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'work-shortage', 'row rule', 270, 'brokerage.rule_work_shortage', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 't1-weight', 'row rule', 280, 'brokerage.rule_t1_weight', '-t1weight', false, '{"negative": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'max-io-intensity', 'row rule', 290, 'brokerage.rule_max_io_intensity', '-max_io_intensity', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'full-chain-job', 'row rule', 300, 'brokerage.rule_full_chain_job', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'no-pilot', 'row rule', 310, 'brokerage.rule_no_pilot_panda2026', '-nopilot', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'io-cutoff', 'set rule', 320, 'brokerage.rule_io_cutoff_panda2026', '-io', false, '{"tape": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'io-cutoff-disk', 'set rule', 330, 'brokerage.rule_io_cutoff_panda2026', '-io', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'weight-basic', 'weight', 340, 'brokerage.weight_basic_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'weight-data', 'weight', 350, 'brokerage.weight_data', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'network-weight', 'weight', 360, 'brokerage.weight_network_panda2026', null, false, '{}', 'code (brokerage-rules 1.6)'),
    ('panda2026', 'arch-preference-weight', 'weight', 370, 'brokerage.weight_architecture', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 't1-weight-factor', 'weight', 380, 'brokerage.weight_t1', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'bootstrap', 'weight', 390, 'brokerage.weight_bootstrap', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 't1-weight-primary', 'choice', 400, 'brokerage.value_running', '-t1_weight', false, '{"best": 1}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'lock', 'row rule', 410, 'brokerage.rule_lock', '-lock', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'use-only-local-data', 'row rule', 420, 'brokerage.rule_use_only_local_data', '-non_local', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'cap', 'row rule', 430, 'brokerage.rule_cap_panda2026', '-cap', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'express-network-threshold', 'row rule', 440, 'brokerage.rule_express_network_threshold_panda2026', '-lowNetworkWeight', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'cap-rt', 'row rule', 450, 'brokerage.rule_cap_rt', '-cap_rt', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'min-weight', 'row rule', 460, 'brokerage.rule_min_weight', '-below_min_weight', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'top-10', 'choice', 470, null, '-low_weight', false, '{"best": 10, "zero_first": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'queued-jobs', 'distribution', 480, 'brokerage.queued_jobs_panda2026', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'running-jobs-cap', 'distribution', 490, 'brokerage.running_jobs_cap_panda2026', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'job-chunk', 'distribution', 500, 'brokerage.job_chunk', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'prod-pending', 'pending', 510, null, null, false, '{"wait": "1 hour", "950": "10 minutes", "900": "30 minutes"}', 'code (brokerage-rules 1.2)')
  ) v(profile, rule, kind, position, function, criteria, temporary, parameters, source);

comment on view brokerage.shipped_rule is
'The rules of the profiles doc and panda2026. An organisation adds to them, or changes them, in brokerage.profile_rule; what holds is brokerage.rule_in_force.';
comment on column brokerage.shipped_rule.profile is 'Profile.';
comment on column brokerage.shipped_rule.algorithm is 'production_job, analysis_job or production_task.';
comment on column brokerage.shipped_rule.rule is 'Rule id, unique in profile and algorithm.';
comment on column brokerage.shipped_rule.kind is
'candidate: who enters the list; row rule: rejects a queue; set rule: a row rule that holds only where somebody passes it; weight: a factor; choice: keeps the best.';
comment on column brokerage.shipped_rule.position is 'Order within the algorithm.';
comment on column brokerage.shipped_rule.function is
'Function of task facts, queue facts, pair facts, and the parameters where it takes them; of a choice the value that it goes by, null = the weight.';
comment on column brokerage.shipped_rule.criteria is 'PanDA''s criteria tag; null = none, or the reason begins with it.';
comment on column brokerage.shipped_rule.temporary is 'The problem passes by itself: the rule marks a queue, later rules still see it.';
comment on column brokerage.shipped_rule.enabled is 'Whether the rule holds.';
comment on column brokerage.shipped_rule.parameters is 'Parameters that the function gets; of a choice: best, how many are kept.';
comment on column brokerage.shipped_rule.source is 'Where it comes from: seed and section, or PanDA''s code.';
