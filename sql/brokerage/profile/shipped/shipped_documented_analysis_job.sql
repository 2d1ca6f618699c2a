-- Rules of analysis job brokerage in the base profile documented, in the order in which they are applied.
-- Facts stand last.
create or replace view brokerage.shipped_documented_analysis_job as
select v.rule, v.kind, v.position::float8 as position, v.function, v.criteria, v.temporary,
       v.parameters::jsonb as parameters, v.source
  from (values
    ('user-cap', 'task rule', 10, 'brokerage.rule_user_cap', null, false, '{"status": "throttled"}',
     'rules/analysis-throttles.md#user-cap'),
    ('quota', 'task rule', 20, 'brokerage.rule_quota', null, false, '{"status": "throttled"}',
     'rules/analysis-throttles.md#quota'),
    ('share-throttle', 'task rule', 30, 'brokerage.rule_share_throttle', null, false, '{"status": "throttled"}',
     'rules/analysis-throttles.md#share-throttle'),
    ('anal-initial', 'candidate', 40, 'brokerage.candidate_analysis', null, false, '{}',
     'rules/analysis-candidates.md#anal-initial'),
    ('include-exclude', 'row rule', 50, 'brokerage.rule_include_exclude', null, false, '{}',
     'rules/analysis-candidates.md#include-exclude'),
    ('queue-status', 'row rule', 60, 'brokerage.rule_queue_status', '-status', false, '{}',
     'rules/analysis-candidates.md#queue-status'),
    ('anal-locality', 'row rule', 70, 'brokerage.rule_anal_locality', null, false, '{"may_be_suppressed": true}',
     'rules/analysis-candidates.md#anal-locality'),
    ('disk-io', 'row rule', 80, 'brokerage.rule_disk_io', '-diskIO', false, '{}', 'rules/analysis-filters.md#disk-io'),
    ('core-count', 'row rule', 90, 'brokerage.rule_core_count', '-cpucore', false, '{}',
     'rules/analysis-filters.md#core-count'),
    ('max-core-count', 'row rule', 100, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{}',
     'rules/analysis-filters.md#max-core-count'),
    ('avoid-vp', 'row rule', 110, 'brokerage.rule_avoid_vp', null, false, '{}',
     'rules/analysis-candidates.md#avoid-vp'),
    ('software', 'row rule', 120, 'brokerage.rule_software', '-cache', false, '{}', 'rules/software-check.md#software'),
    ('memory', 'row rule', 130, 'brokerage.rule_memory', null, false, '{}', 'rules/analysis-filters.md#memory'),
    ('scratch-disk', 'row rule', 140, 'brokerage.rule_scratch_disk_analysis', '-disk', false, '{}',
     'rules/analysis-filters.md#scratch-disk'),
    ('storage-space', 'row rule', 150, 'brokerage.rule_storage_space', '-disk', false, '{}',
     'rules/analysis-filters.md#storage-space'),
    ('storage-blacklist', 'row rule', 160, 'brokerage.rule_storage_blacklist_analysis', '-blacklist', false, '{}',
     'rules/analysis-filters.md#storage-blacklist'),
    ('walltime', 'row rule', 170, 'brokerage.rule_walltime', null, false, '{}', 'rules/analysis-filters.md#walltime'),
    ('no-pilot', 'row rule', 180, 'brokerage.rule_no_pilot', '-nopilot', false, '{}',
     'rules/analysis-filters.md#no-pilot'),
    ('failed-jobs', 'row rule', 190, 'brokerage.rule_failed_jobs', '-badsite', true, '{}',
     'rules/analysis-load.md#failed-jobs'),
    ('cap-rt', 'row rule', 200, 'brokerage.rule_cap_rt_analysis', '-cap_rt', true, '{}',
     'rules/analysis-load.md#cap-rt'),
    ('stabilizer', 'row rule', 210, 'brokerage.rule_stabilizer', '-badsite', true, '{}',
     'rules/analysis-load.md#stabilizer'),
    ('anal-loops', 'second pass', 220, 'brokerage.rule_anal_loops', null, false, '{}',
     'rules/analysis-candidates.md#anal-loops'),
    ('weight', 'weight', 230, 'brokerage.weight_analysis', null, false, '{}', 'rules/analysis-weights.md#weight'),
    ('top-10', 'choice', 240, null, '-low_weight', false, '{"best": 10}', 'rules/analysis-weights.md#top-10'),
    ('queued-jobs', 'distribution', 250, 'brokerage.queued_jobs', null, false, '{}',
     'rules/distribution.md#queued-jobs'),
    ('running-jobs-cap', 'distribution', 260, 'brokerage.running_jobs_cap', null, false, '{}',
     'rules/distribution.md#running-jobs-cap'),
    ('job-chunk', 'distribution', 270, 'brokerage.job_chunk', null, false, '{}', 'rules/distribution.md#job-chunk'),
    ('anal-pending', 'pending', 280, null, null, false, '{"wait": "20 minutes"}',
     'rules/analysis-weights.md#anal-pending'),
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

comment on view brokerage.shipped_documented_analysis_job is
  'Rules of analysis job brokerage in the base profile documented; a part of brokerage.shipped_rule.';
comment on column brokerage.shipped_documented_analysis_job.rule is 'Rule id, unique in the profile and algorithm.';
comment on column brokerage.shipped_documented_analysis_job.kind is 'As in brokerage.profile_rule.';
comment on column brokerage.shipped_documented_analysis_job.position is 'Order within the algorithm.';
comment on column brokerage.shipped_documented_analysis_job.function is
  'Function of the rule; null = the engine decides by itself.';
comment on column brokerage.shipped_documented_analysis_job.criteria is
  'PanDA''s criteria tag; null = none, or the reason begins with it.';
comment on column brokerage.shipped_documented_analysis_job.temporary is 'Whether the problem may pass by itself.';
comment on column brokerage.shipped_documented_analysis_job.parameters is 'Parameters of the function.';
comment on column brokerage.shipped_documented_analysis_job.source is
  'Page and heading that describe the rule, relative to sql/brokerage.';
