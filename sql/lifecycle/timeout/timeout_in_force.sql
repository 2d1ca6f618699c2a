create or replace view lifecycle.timeout_in_force as
select s.setup, r.position, r.rule, false as own, r.statuses, r.labels, r.not_labels, r.priority_from, r.priority_to,
       r.conditions, r.clock, r.key_by_name, r.key, r.queue_column, r.queue_setting, r.constant, r.action,
       r.skipped_at, r.description
  from lifecycle.setting_in_force s
  join lifecycle.timeout_rule r on r.profile = s.timeouts
 union all
select o.setup, o.position, o.rule, true, o.statuses, o.labels, o.not_labels, o.priority_from, o.priority_to,
       o.conditions, o.clock, null, o.key, null, null, o.constant, o.action, o.skipped_at, o.description
  from lifecycle.own_timeout o
 where (o.setup = (select resource.bound_setup())) is not false;

comment on view lifecycle.timeout_in_force is
  'Timeouts that apply in each setup, by position: those of its base profile (lifecycle.timeout_rule, which explains '
  'the columns) and its own (lifecycle.set_timeout).';
comment on column lifecycle.timeout_in_force.own is 'Whether lifecycle.set_timeout added the timeout.';
