-- The function sets the time of the next attempt before this attempt, so if a process dies while it sends, the next
-- process sends the notification.
create or replace function alert.take_notifications(p_setup text, p_notification_id bigint default null)
returns table (target text, kind text, address text, header text, notifications jsonb)
language plpgsql security definer set search_path = alert, pg_temp as $$
#variable_conflict use_column
begin
  perform resource.identify(p_setup);
  update alert.notification n set next_at = null
   where n.setup = p_setup and n.next_at is not null and n.made_at < now() - interval '1 day';
  return query
    with taken as (
      update alert.notification n
         set attempts = n.attempts + 1, next_at = now() + least(interval '30 seconds' * 2 ^ n.attempts, '1 hour')
       where n.notification_id in (
               select d.notification_id
                 from alert.notification d
                 join alert.target t on t.setup = d.setup and t.target = d.target and (t.enabled or d.state = 'test')
                where d.setup = p_setup and d.next_at <= now()
                  and (p_notification_id is null or d.notification_id = p_notification_id)
                order by d.notification_id limit 1000
                  for update of d skip locked)
      returning n.notification_id, n.target, n.alert_id, n.state
    )
    select t.target, t.kind, t.address, t.header,
           jsonb_agg(jsonb_build_object(
             'notification_id', n.notification_id, 'state', n.state, 'rule', a.rule, 'labels', a.labels,
             'severity', a.severity, 'summary', a.summary, 'value', a.value, 'since', a.since,
             'fired_at', a.fired_at, 'ended_at', a.ended_at) order by n.notification_id)
      from taken n
      join alert.target t on t.setup = p_setup and t.target = n.target
      left join alert.alert a on a.setup = p_setup and a.alert_id = n.alert_id
     group by t.target, t.kind, t.address, t.header
     order by t.target;
end $$;

comment on function alert.take_notifications(text, bigint) is
  'Notifications that are due, one row per target, at most 1,000. Each is due again after half a minute, then after '
  'twice the time, at most an hour, until alert.note_sent records that it was sent. After a day it is given up. '
  'p_notification_id: only this notification; null = all. For the loop notify and a test of a target. Errors: PB002 '
  '(setup not granted).';
