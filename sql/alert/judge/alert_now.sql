create or replace view alert.alert_now as
select a.setup, a.alert_id, a.rule, a.labels,
       case when a.ended_at is not null then 'ended' when a.fired_at is null then 'pending' else 'firing' end as state,
       a.severity, a.summary, a.value, a.since, a.fired_at, a.ended_at,
       a.began_at, a.usual,
       (select max(s.until) from alert.silence s
         where s.setup = a.setup and s.rule = a.rule and a.labels @> s.labels and s.until > now()
           and a.ended_at is null) as silent_until
  from alert.alert a
 where (a.setup = (select resource.bound_setup())) is not false;

comment on view alert.alert_now is
  'Alerts that are pending (the condition holds, but not yet for long enough), are firing, or ended within 90 days.';
comment on column alert.alert_now.silent_until is
  'Time until which the alert is not sent (alert.silence_alerts); null = it is sent.';
comment on column alert.alert_now.state is 'State of the alert: pending, firing or ended.';
