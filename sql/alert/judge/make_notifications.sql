-- A firing alert that is not silenced goes to each target that wants it and was not sent it within the time after which
-- it repeats. It therefore also reaches a target that is newer than the alert. The end goes to every target that was
-- sent the beginning.
create or replace function alert.make_notifications(p_setup text) returns void
language sql as $$
  with rank (severity, rank) as (
    values ('info', 1), ('warning', 2), ('critical', 3)
  )
  insert into alert.notification (setup, target, alert_id, state)
  select t.setup, t.target, a.alert_id, 'firing'
    from alert.alert a
    join rank s on s.severity = a.severity
    join alert.target t on t.setup = a.setup and t.enabled
    join rank l on l.severity = t.least_severity and l.rank <= s.rank
   where a.setup = p_setup and a.fired_at is not null and a.ended_at is null
     and not exists (select from alert.silence s
                      where s.setup = a.setup and s.rule = a.rule and a.labels @> s.labels and s.until > now())
     and not exists (select from alert.notification n
                      where n.setup = a.setup and n.alert_id = a.alert_id and n.target = t.target
                        and (t.repeat_after is null or n.made_at > now() - t.repeat_after));
  insert into alert.notification (setup, target, alert_id, state)
  select distinct n.setup, n.target, a.alert_id, 'resolved'
    from alert.alert a
    join alert.notification n on n.setup = a.setup and n.alert_id = a.alert_id
   where a.setup = p_setup and a.ended_at > resource.clock(p_setup) - interval '1 day'
     and not exists (select from alert.notification r
                      where r.setup = a.setup and r.alert_id = a.alert_id and r.target = n.target
                        and r.state = 'resolved');
  delete from alert.silence s where s.setup = p_setup and s.until < now();
  delete from alert.notification n
   where n.setup = p_setup and n.alert_id is null and n.made_at < now() - interval '90 days';
$$;

comment on function alert.make_notifications(text) is
  'Makes the notifications of alerts that fire or have ended, for each target that should get them.';
