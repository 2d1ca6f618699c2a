-- TIMEOUTS.md, Table of timeouts. A timeout with two limits is two rows.
create or replace view lifecycle.timeout_rule as
select p.profile, p.position, p.rule, p.statuses, r.labels, r.not_labels, r.priority_from, r.priority_to,
       array(select 'lifecycle.condition_' || c.name
               from unnest(r.conditions) with ordinality c(name, place) order by c.place) as conditions,
       p.clock, r.key_by_name, r.key, r.queue_column, r.queue_setting, p.constant, p.action,
       coalesce(r.skipped_at, p.skipped_at) as skipped_at, p.description
  from (select 'documented' as profile, '{paused,disableReassign}'::text[] as skipped_at, d.*
          from lifecycle.timeout_documented d
         union all select 'panda2026', '{}', t.* from lifecycle.timeout_panda2026 t) p
 cross join lateral jsonb_populate_record(null::lifecycle.timeout, p.more) r;

comment on view lifecycle.timeout_rule is
  'Timeouts of the base profiles, in the order in which they are examined; the first one that a job has passed '
  'applies. An age must be above its limit. The limit is the first that exists of key_by_name, key, queue_column, '
  'queue_setting and constant.';
comment on column lifecycle.timeout_rule.profile is 'Base profile: documented or panda2026.';
