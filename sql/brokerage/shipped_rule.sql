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
    ('doc', 'prod-pending', 'pending', 380, null, null, false, '{"wait": "1 hour"}', 'seed 000, ATLAS Production Job Brokerage, 5')
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
