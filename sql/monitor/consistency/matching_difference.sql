create or replace view monitor.matching_difference as
select s.setup, c.structure, c.key, c.expected, c.found
  from resource.setup s
 cross join lateral taskqueue.check_matching(s.setup) c
 where (s.setup = (select resource.bound_setup())) is not false;

comment on view monitor.matching_difference is
  'Differences between the structures that matching reads and the TaskQueues, requirement tables, jobs and leases that '
  'they are derived from (a queue visible without its requirements, jobs that no posting leads to, wrong counts). '
  'Always empty; taskqueue.rebuild_matching repairs differences.';
comment on column monitor.matching_difference.structure is 'Name of the derived structure.';
comment on column monitor.matching_difference.key is 'Key of the entry in the structure.';
comment on column monitor.matching_difference.expected is 'Value that the entry should have.';
comment on column monitor.matching_difference.found is 'Value that the entry has.';
