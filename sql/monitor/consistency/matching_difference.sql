-- Consistency: always empty.
create or replace view monitor.matching_difference as
select s.setup, c.structure, c.key, c.expected, c.found
  from resource.setup s
 cross join lateral taskqueue.check_matching(s.setup) c
 where (s.setup = (select resource.bound_setup())) is not false;

comment on view monitor.matching_difference is
  'Where what matching reads differs from the TaskQueues, requirement tables, jobs and leases that it is derived from '
  '(a queue visible without its requirements, jobs that no posting leads to, wrong counts). '
  'Always empty; taskqueue.rebuild_matching repairs.';
comment on column monitor.matching_difference.structure is 'Derived structure.';
comment on column monitor.matching_difference.key is 'What in it.';
comment on column monitor.matching_difference.expected is 'What it should be.';
comment on column monitor.matching_difference.found is 'What it is.';
