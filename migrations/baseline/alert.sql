-- The tables of the schema alert as release 0.1.0 has them; revisions change them.

create schema alert;
comment on schema alert is 'Alerts: rules about figures, the alerts that fire, and their targets. Uses history.';

--: A setup's own rules, and shipped rules that the setup changed (alert.set_rule). alert.rule_in_force has all rules of
--: a setup.
create table alert.rule (
  setup      text not null references resource.setup on delete cascade,
  rule       text not null check (rule ~ '^[a-z][a-z0-9_]{0,49}$'),  --: Name.
  enabled    boolean not null default true,  --: Whether the rule is judged.
  figure     text not null,  --: Figure that is judged (history.figure).
  labels     jsonb not null default '{}',  --: Labels of the series that are judged, such as {"outcome": "failed"}.
  by_label   text,  --: Label of which each value is judged by itself; null = all series together.
  per_figure text,  --: Figure by which the value is divided; null = none.
  per_labels jsonb not null default '{}',  --: Labels of the series of that figure.
  --: Value that the divisor must reach; the rule is not judged below it. The divisor must be above 0 in any case.
  per_least  float8 not null default 0 check (per_least >= 0 and per_least < 'infinity'),
  --: The condition holds if the value is above this number.
  above      float8 check (above > '-infinity' and above < 'infinity'),
  --: The condition holds if the value is below this number.
  below      float8 check (below > '-infinity' and below < 'infinity'),
  --: The value is the mean over this time, in whole minutes.
  over       interval not null default '1 minute' check (over between '1 minute' and '1 day'),
  --: How long the condition must hold until the alert fires.
  lasting    interval not null default '0' check (lasting between '0' and '7 days'),
  severity   text not null default 'warning' check (severity in ('info', 'warning', 'critical')),  --: Severity.
  --: Meaning of the alert in a sentence. {value} is replaced by the value, and {site} by the value of the label site if
  --: by_label is site.
  summary    text not null,
  primary key (setup, rule),
  constraint rule_condition check (num_nonnulls(above, below) = 1)
);
comment on constraint rule_rule_check on alert.rule is 'lower case letters, digits and underscores';
comment on constraint rule_per_least_check on alert.rule is 'at least 0';
comment on constraint rule_above_check on alert.rule is 'finite';
comment on constraint rule_below_check on alert.rule is 'finite';
comment on constraint rule_over_check on alert.rule is '1 minute to 1 day';
comment on constraint rule_lasting_check on alert.rule is '0 to 7 days';
comment on constraint rule_severity_check on alert.rule is 'info, warning or critical';
comment on constraint rule_condition on alert.rule is 'with one of above and below';

--: Targets that alerts are sent to (alert.set_target).
create table alert.target (
  setup          text not null references resource.setup on delete cascade,
  target         text not null check (target ~ '^[a-z][a-z0-9_]{0,49}$'),  --: Name.
  enabled        boolean not null default true,  --: Whether alerts are sent to the target.
  --: Kind of the target: webhook (HTTP POST) or mail (by a command).
  kind           text not null check (kind in ('webhook', 'mail')),
  address        text not null,  --: URL of the webhook, or addresses of mail with commas between them.
  header         text,  --: Value of the header Authorization of a webhook; null = none.
  --: Least severity of the alerts that are sent.
  least_severity text not null default 'info' check (least_severity in ('info', 'warning', 'critical')),
  --: Time after which an alert that still fires is sent again; null = never.
  repeat_after   interval default '4 hours' check (repeat_after between '5 minutes' and '30 days'),
  primary key (setup, target),
  constraint target_address check (
    case kind when 'webhook' then address ~ '^https?://[^[:space:][:cntrl:]@]+$'
              else address ~ '^[^@[:space:],<>"]+@[^@[:space:],<>"]+(, ?[^@[:space:],<>"]+@[^@[:space:],<>"]+)*$'
                   and address !~ '(^|, ?)-|=[?]|[[:cntrl:]]' end),
  constraint target_header check (header is null or kind = 'webhook' and header !~ '[[:cntrl:]]')
);
comment on constraint target_target_check on alert.target is 'lower case letters, digits and underscores';
comment on constraint target_kind_check on alert.target is 'webhook or mail';
comment on constraint target_least_severity_check on alert.target is 'info, warning or critical';
comment on constraint target_repeat_after_check on alert.target is '5 minutes to 30 days';
comment on constraint target_address on alert.target is
  'with an address that is a URL (http:// or https://, without a password) or addresses of mail';
comment on constraint target_header on alert.target is 'with a header for a webhook, of one line';

--: The last minute of the history of figures that was judged, one row per setup.
create table alert.judged (
  setup text primary key references resource.setup on delete cascade,
  at    timestamptz not null  --: Beginning of the minute, by the clock of the setup.
);

--: Alerts: a row for each time that the condition of a rule began to hold. An alert that ends before it fires is
--: removed.
create table alert.alert (
  alert_id bigint generated always as identity,  --: Number.
  setup    text not null references resource.setup on delete cascade,
  rule     text not null,  --: Rule.
  labels   jsonb not null,  --: Value of the label by which the rule judges, such as {"site": "CERN"}.
  severity text not null,  --: Severity of the rule.
  summary  text not null,  --: Meaning of the alert.
  value    float8 not null,  --: Value when the alert was last judged, or the last value for which the condition held.
  since    timestamptz not null,  --: First minute for which the condition held.
  fired_at timestamptz,  --: Minute in which the alert began to fire; null = the condition has not held for long enough.
  ended_at timestamptz,  --: Minute for which the condition no longer held; null = it still holds.
  --: First minute whose own value was beyond the rule, of the minutes whose mean began the condition; null = the alert
  --: has not fired yet, or none was found within a day before.
  began_at timestamptz,
  usual    float8,  --: Value of the rule in the day before began_at; null = unknown.
  primary key (setup, alert_id)
);
create unique index alert_open on alert.alert (setup, rule, labels) where ended_at is null;
create index alert_ended on alert.alert (setup, ended_at);

--: Notifications: an alert, or its end, on its way to a target. A notification is sent at least once.
create table alert.notification (
  notification_id bigint generated always as identity,  --: Number.
  setup    text not null,
  target   text not null,  --: Target.
  alert_id bigint,  --: Alert; null = a test.
  --: Event of the notification: firing, resolved or test.
  state    text not null check (state in ('firing', 'resolved', 'test')),
  --: When the notification was made, by the server's clock, like all times of this table.
  made_at  timestamptz not null default now(),
  attempts int not null default 0,  --: Number of attempts to send the notification.
  next_at  timestamptz default now(),  --: Time of the next attempt; null = there is no further attempt.
  sent_at  timestamptz,  --: When the notification was sent; null = not yet.
  error    text,  --: Reason why the last attempt failed; null = it did not fail.
  primary key (setup, notification_id),
  foreign key (setup, target) references alert.target on delete cascade,
  foreign key (setup, alert_id) references alert.alert on delete cascade
);
create index notification_due on alert.notification (setup, next_at) where next_at is not null;
create index notification_alert on alert.notification (setup, alert_id);
create index notification_target on alert.notification (setup, target);
