create or replace view monitor.retry_rule as
select r.setup, r.position, r.name, r.classes, r.source, r.code_from, r.code_to, r.pattern, r.sites, r.owner_groups,
       r.job_types, r.failures_from, r.failures_to, r.decision, r.delay, r.memory_factor,
       r.time_factor, r.elsewhere, r.less_input, r.passive
  from taskqueue.retry_rule r
 where (r.setup = (select resource.bound_setup())) is not false;

comment on view monitor.retry_rule is
  'Retry rules (taskqueue.set_retry_rules). The first row by position that fits a failed end and is not passive '
  'decides; a failed job that no rule fits ends.';
