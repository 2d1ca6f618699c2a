-- Each rule holds in every setup that does not change it (alert.set_rule).
create or replace view alert.shipped_rule as
select r.rule, true as enabled, r.figure, r.labels::jsonb as labels, r.by_label, r.per_figure,
       r.per_labels::jsonb as per_labels, r.per_least, r.above, r.below, r.over, r.lasting, r.severity, r.summary
  from (values
    ('server_problem', 'findings', '{"verdict": "problem"}', 'area', null, '{}', 0::float8, 0::float8, null::float8,
     interval '1 minute', interval '5 minutes', 'critical',
     '{value} problems in area {area} of the server: broker doctor shows them'),
    ('site_fails_jobs', 'ends_at_site', '{"outcome": "failed"}', 'site', 'ends_at_site', '{}', 0.2, 0.5, null,
     '30 minutes', '10 minutes', 'warning', '{value} of the jobs that end at site {site} fail'),
    ('site_loses_jobs', 'ends_at_site', '{"outcome": "expired"}', 'site', 'ends_at_site', '{}', 0.2, 0.2, null,
     '30 minutes', '10 minutes', 'warning', '{value} of the jobs that end at site {site} lose their JobAgents'),
    ('site_breaks_jobs', 'failures', '{"class": "infrastructure"}', 'site', 'ends_at_site', '{}', 0.2, 0.2, null,
     '30 minutes', '10 minutes', 'warning',
     '{value} of the jobs that end at site {site} fail because of the site'),
    ('site_fails_hosts', 'quarantines', '{"state": "named"}', 'site', null, '{}', 0, 0, null, '1 minute', '0',
     'warning', 'many worker nodes of site {site} fail their jobs, so the fault is probably at the site'),
    ('host_fails_jobs', 'quarantines', '{}', 'site', null, '{}', 0, 0, null, '1 minute', '0', 'info',
     'quarantines at site {site}, with worker nodes that the guard would quarantine: {value}'),
    ('site_stopped', 'leases_at_site', '{}', 'site', null, '{}', 0, null, 0.5, '15 minutes', '15 minutes', 'warning',
     'no job runs at site {site}, which had jobs within two days'),
    ('nothing_matched', 'matches', '{}', null, 'jobs_waiting', '{"reason": "waiting"}', 10, null, 0.0001,
     '30 minutes', '0', 'critical', 'no job was matched for half an hour, although resources fit waiting jobs'),
    ('jobs_misconfigured', 'jobs_waiting', '{"reason": "misconfigured"}', 'owner_group', null, '{}', 0, 0, null,
     '1 minute', '15 minutes', 'warning', '{value} jobs of group {owner_group} wait. {meaning}'),
    ('no_resource_seen', 'jobs_waiting', '{"reason": "no_resource_seen"}', 'owner_group', null, '{}', 0, 0, null,
     '1 minute', '6 hours', 'info', '{value} jobs of group {owner_group} wait. {meaning}'),
    ('group_above_target', 'group_use', '{}', 'owner_group', 'group_target', '{}', 0, 2, null,
     '1 hour', '6 hours', 'info', 'group {owner_group} has {value} of its share')
  ) r (rule, figure, labels, by_label, per_figure, per_labels, per_least, above, below, over, lasting, severity,
       summary);

comment on view alert.shipped_rule is
  'Rules that come with the program, with the columns of alert.rule. alert.rule_in_force has the rules of a setup.';
comment on column alert.shipped_rule.rule is 'Name of the rule.';
comment on column alert.shipped_rule.enabled is 'Whether the rule is judged.';
comment on column alert.shipped_rule.figure is 'Figure that is judged (history.figure).';
comment on column alert.shipped_rule.labels is 'Labels of the series that are judged.';
comment on column alert.shipped_rule.by_label is
  'Label of which each value is judged by itself; null = all series together.';
comment on column alert.shipped_rule.per_figure is 'Figure by which the value is divided; null = none.';
comment on column alert.shipped_rule.per_labels is 'Labels of the series of that figure.';
comment on column alert.shipped_rule.per_least is 'Value that the divisor must reach.';
comment on column alert.shipped_rule.above is 'The condition holds if the value is above this number.';
comment on column alert.shipped_rule.below is 'The condition holds if the value is below this number.';
comment on column alert.shipped_rule.over is 'The value is the mean over this time.';
comment on column alert.shipped_rule.lasting is 'How long the condition must hold until the alert fires.';
comment on column alert.shipped_rule.severity is 'Severity of the alert: info, warning or critical.';
comment on column alert.shipped_rule.summary is 'Meaning of the alert.';
