-- Facts for the rules of both job brokers. A row without a profile holds in both base profiles.
create or replace view brokerage.shipped_fact as
select p.profile, a.algorithm, v.rule, 'fact' as kind, v.position::float8 as position, v.function,
       null::text as criteria, false as temporary, jsonb '{}' as parameters, v.source
  from (values
    (null, 'catchall-lookup', 600, 'resource.catchall', 'rules/facts-and-formulas.md#catchall-lookup'),
    (null, 'per-core-attr', 601, 'resource.candidate_queue', 'rules/facts-and-formulas.md#per-core-attr'),
    (null, 'ucore-expansion', 602, 'resource.candidate_queue', 'rules/facts-and-formulas.md#ucore-expansion'),
    (null, 'direct-io-used', 603, 'brokerage.reads_directly', 'rules/facts-and-formulas.md#direct-io-used'),
    ('documented', 'n-running-workers', 604, 'brokerage.running_workers',
     'rules/facts-and-formulas.md#n-running-workers'),
    ('documented', 'num-slots', 605, 'brokerage.running_workers', 'rules/facts-and-formulas.md#num-slots'),
    ('panda2026', 'n-running-workers', 604, 'brokerage.running_workers_panda2026',
     'rules/facts-and-formulas.md#n-running-workers'),
    ('panda2026', 'num-slots', 605, 'brokerage.running_workers_panda2026', 'rules/facts-and-formulas.md#num-slots'),
    ('panda2026', 'temporary-problems', 606, 'brokerage.compose', 'rules/order-and-turns.md#temporary-problems')
  ) v(profile, rule, position, function, source)
  join (values ('documented'), ('panda2026')) p(profile) on p.profile = coalesce(v.profile, p.profile)
 cross join (values ('production_job'), ('analysis_job')) a(algorithm);

comment on view brokerage.shipped_fact is
  'Facts of job brokerage in the base profiles; a part of brokerage.shipped_rule.';
