-- Rules of production job brokerage in the base profile documented, in the order in which they are applied.
-- Facts stand last. Long because it is one list.
create or replace view brokerage.shipped_documented_production_job as
select v.rule, v.kind, v.position::float8 as position, v.function, v.criteria, v.temporary,
       v.parameters::jsonb as parameters, v.source
  from (values
    ('prod-initial-all', 'candidate', 10, 'brokerage.candidate_all', null, false, '{}',
     'rules/production-candidates.md#prod-initial-all'),
    ('prod-initial-preassigned', 'candidate', 20, 'brokerage.candidate_preassigned', null, false,
     '{"by": "prod-initial-preassigned"}', 'rules/production-candidates.md#prod-initial-preassigned'),
    ('preassigned-merge', 'candidate', 30, 'brokerage.candidate_preassigned', null, false,
     '{"by": "preassigned-merge"}', 'rules/production-candidates.md#preassigned-merge'),
    ('queue-status', 'row rule', 40, 'brokerage.rule_queue_status', '-status', false, '{}',
     'rules/production-candidates.md#queue-status'),
    ('link-blocked', 'row rule', 50, 'brokerage.rule_link_blocked', '-link_unusable', false, '{}',
     'rules/network.md#link-blocked'),
    ('link-queue-cap', 'row rule', 60, 'brokerage.rule_link_queue_cap', '-link_unusable', false, '{}',
     'rules/network.md#link-queue-cap'),
    ('nucleus-queue-cap', 'row rule', 70, 'brokerage.rule_nucleus_queue_cap', '-links_full', false, '{}',
     'rules/network.md#nucleus-queue-cap'),
    ('high-prio-opportunistic', 'row rule', 80, 'brokerage.rule_high_prio_opportunistic', '-opportunistic', false, '{}',
     'rules/production-filters.md#high-prio-opportunistic'),
    ('inactive-queue', 'row rule', 90, 'brokerage.rule_inactive_queue', '-inactive', false, '{}',
     'rules/production-load.md#inactive-queue'),
    ('zero-share', 'row rule', 100, 'brokerage.rule_zero_share', '-zeroshare', false, '{}',
     'rules/zero-share.md#zero-share'),
    ('io-cutoff', 'row rule', 110, 'brokerage.rule_io_cutoff', '-io', false, '{}',
     'rules/production-filters.md#io-cutoff'),
    ('disk-io', 'row rule', 120, 'brokerage.rule_disk_io', '-diskIO', false, '{}', 'rules/production-load.md#disk-io'),
    ('core-count', 'row rule', 130, 'brokerage.rule_core_count', '-cpucore', false, '{}',
     'rules/production-filters.md#core-count'),
    ('max-core-count', 'row rule', 140, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{}',
     'rules/production-filters.md#max-core-count'),
    ('software', 'row rule', 150, 'brokerage.rule_software', '-cache', false, '{}', 'rules/software-check.md#software'),
    ('memory', 'row rule', 160, 'brokerage.rule_memory', null, false, '{}', 'rules/production-filters.md#memory'),
    ('direct-io-only', 'row rule', 170, 'brokerage.rule_direct_io_only', '-remoteio', false, '{}',
     'rules/production-filters.md#direct-io-only'),
    ('scratch-disk', 'row rule', 180, 'brokerage.rule_scratch_disk', '-disk', false, '{}',
     'rules/production-filters.md#scratch-disk'),
    ('storage-space', 'row rule', 190, 'brokerage.rule_storage_space', '-disk', false, '{}',
     'rules/production-filters.md#storage-space'),
    ('storage-blacklist', 'row rule', 200, 'brokerage.rule_storage_blacklist', null, false, '{}',
     'rules/production-filters.md#storage-blacklist'),
    ('walltime-scout', 'row rule', 210, 'brokerage.rule_walltime_scout', null, false, '{}',
     'rules/production-filters.md#walltime-scout'),
    ('walltime', 'row rule', 220, 'brokerage.rule_walltime', null, false, '{}', 'rules/production-filters.md#walltime'),
    ('wn-connectivity', 'row rule', 230, 'brokerage.rule_wn_connectivity', '-network', false, '{}',
     'rules/production-filters.md#wn-connectivity'),
    ('event-service', 'row rule', 240, 'brokerage.rule_event_service', null, false, '{}',
     'rules/production-filters.md#event-service'),
    ('transferring-limit', 'row rule', 250, 'brokerage.rule_transferring_limit', '-transferring', false, '{}',
     'rules/production-load.md#transferring-limit'),
    ('t1-weight', 'row rule', 260, 'brokerage.rule_t1_weight', '-t1weight', false, '{}',
     'rules/production-filters.md#t1-weight'),
    ('full-chain-job', 'row rule', 270, 'brokerage.rule_full_chain_job', null, false, '{}',
     'rules/full-chain.md#full-chain-job'),
    ('no-pilot', 'row rule', 280, 'brokerage.rule_no_pilot', '-nopilot', false, '{}',
     'rules/production-load.md#no-pilot'),
    ('express-network-threshold', 'row rule', 290, 'brokerage.rule_express_network_threshold', '-lowNetworkWeight',
     false, '{}', 'rules/network.md#express-network-threshold'),
    ('weight-basic', 'weight', 300, 'brokerage.weight_basic', null, false, '{}',
     'rules/production-weights.md#weight-basic'),
    ('weight-data', 'weight', 310, 'brokerage.weight_data', null, false, '{}',
     'rules/production-weights.md#weight-data'),
    ('network-weight', 'weight', 320, 'brokerage.weight_network', null, false, '{}', 'rules/network.md#network-weight'),
    ('cap', 'row rule', 330, 'brokerage.rule_cap', '-cap', false, '{}', 'rules/production-load.md#cap'),
    ('top-10', 'choice', 340, null, '-low_weight', false, '{"best": 10}', 'rules/production-weights.md#top-10'),
    ('queued-jobs', 'distribution', 350, 'brokerage.queued_jobs', null, false, '{}',
     'rules/distribution.md#queued-jobs'),
    ('running-jobs-cap', 'distribution', 360, 'brokerage.running_jobs_cap', null, false, '{}',
     'rules/distribution.md#running-jobs-cap'),
    ('job-chunk', 'distribution', 370, 'brokerage.job_chunk', null, false, '{}', 'rules/distribution.md#job-chunk'),
    ('prod-pending', 'pending', 380, null, null, false, '{"wait": "1 hour"}',
     'rules/production-weights.md#prod-pending'),
    ('catchall-lookup', 'fact', 600, 'resource.catchall', null, false, '{}',
     'rules/facts-and-formulas.md#catchall-lookup'),
    ('per-core-attr', 'fact', 601, 'resource.candidate_queue', null, false, '{}',
     'rules/facts-and-formulas.md#per-core-attr'),
    ('ucore-expansion', 'fact', 602, 'resource.candidate_queue', null, false, '{}',
     'rules/facts-and-formulas.md#ucore-expansion'),
    ('direct-io-used', 'fact', 603, 'brokerage.reads_directly', null, false, '{}',
     'rules/facts-and-formulas.md#direct-io-used'),
    ('n-running-workers', 'fact', 604, 'brokerage.running_workers', null, false, '{}',
     'rules/facts-and-formulas.md#n-running-workers'),
    ('num-slots', 'fact', 605, 'brokerage.running_workers', null, false, '{}', 'rules/facts-and-formulas.md#num-slots')
  ) v(rule, kind, position, function, criteria, temporary, parameters, source);

comment on view brokerage.shipped_documented_production_job is
  'Rules of production job brokerage in the base profile documented; a part of brokerage.shipped_rule.';
comment on column brokerage.shipped_documented_production_job.rule is 'Rule id, unique in the profile and algorithm.';
comment on column brokerage.shipped_documented_production_job.kind is 'As in brokerage.profile_rule.';
comment on column brokerage.shipped_documented_production_job.position is 'Order within the algorithm.';
comment on column brokerage.shipped_documented_production_job.function is
  'Function of the rule; null = the engine decides by itself.';
comment on column brokerage.shipped_documented_production_job.criteria is
  'PanDA''s criteria tag; null = none, or the reason begins with it.';
comment on column brokerage.shipped_documented_production_job.temporary is 'Whether the problem may pass by itself.';
comment on column brokerage.shipped_documented_production_job.parameters is 'Parameters of the function.';
comment on column brokerage.shipped_documented_production_job.source is
  'Page and heading that describe the rule, relative to sql/brokerage.';
