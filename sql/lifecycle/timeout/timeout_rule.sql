-- TIMEOUTS.md, Table of timeouts. A timeout with two limits is two rows.
create or replace view lifecycle.timeout_rule as
select p.profile, r.position, r.rule, r.statuses, r.labels, r.not_labels, r.priority_from, r.priority_to,
       array(select 'lifecycle.condition_' || c.name
               from unnest(r.conditions) with ordinality c(name, place) order by c.place) as conditions,
       r.clock, r.key_by_name, r.key, r.queue_column, r.queue_setting, r.constant, r.action,
       coalesce(r.skipped_at, p.skipped_at) as skipped_at, r.description
  from (select 'documented' as profile, '{paused,disableReassign}'::text[] as skipped_at, to_jsonb(d) as timeout
          from lifecycle.timeout_documented d
         union all
        select 'panda2026', '{}', to_jsonb(t) from lifecycle.timeout_panda2026 t) p
 cross join lateral jsonb_populate_record(null::lifecycle.timeout, p.timeout || (p.timeout -> 'more')) r;

comment on view lifecycle.timeout_rule is
  'Timeouts of the base profiles, in the order in which they are looked at: the first that a job is overdue by '
  'applies. An age must be above its limit. The limit is the first that exists of key_by_name, key, queue_column, '
  'queue_setting and constant.';
comment on column lifecycle.timeout_rule.profile is 'Base profile: documented or panda2026.';
comment on column lifecycle.timeout_rule.position is 'Place in the order.';
comment on column lifecycle.timeout_rule.rule is 'Name; the sub status of jobs that the timeout ends.';
comment on column lifecycle.timeout_rule.statuses is 'Statuses of the jobs that the timeout looks at.';
comment on column lifecycle.timeout_rule.labels is 'Labels of these jobs; null = all.';
comment on column lifecycle.timeout_rule.not_labels is 'Labels that are left out; null = none.';
comment on column lifecycle.timeout_rule.priority_from is 'Least priority; null = any. A job without one has 0.';
comment on column lifecycle.timeout_rule.priority_to is 'Highest priority; null = any.';
comment on column lifecycle.timeout_rule.conditions is
  'Functions that say what else must hold: each takes lifecycle.timeout_facts and returns null, or why it does not.';
comment on column lifecycle.timeout_rule.clock is
  'Since when the age counts: created, modified (or the last report of the JobAgent), state_changed, or waiting '
  '(activated, else created).';
comment on column lifecycle.timeout_rule.key_by_name is
  'Configuration of pandaserver that has the limit in hours for a workflow or a group, component:KEY; null = none.';
comment on column lifecycle.timeout_rule.key is
  'Configuration of pandaserver that has the limit in hours, component:KEY; null = none.';
comment on column lifecycle.timeout_rule.queue_column is
  'Column of resource.queue that has the limit in days; null = none.';
comment on column lifecycle.timeout_rule.queue_setting is
  'Column of taskqueue.setting that has the limit; null = none.';
comment on column lifecycle.timeout_rule.constant is
  'Limit if nothing else has one; null = then the timeout is off.';
comment on column lifecycle.timeout_rule.action is
  'cancel (the job is cancelled), rebroker (the job is closed, its work goes back to its task) or fail; a leased job '
  'that was sent returns to its TaskQueue first.';
comment on column lifecycle.timeout_rule.skipped_at is
  'Queues at which the timeout does not apply: paused, or disableReassign in the catchall.';
comment on column lifecycle.timeout_rule.description is 'The timeout in a sentence.';
