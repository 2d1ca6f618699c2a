-- The header is a secret, which alert.take_notifications gives to the sender alone.
create or replace view alert.target_now as
select t.setup, t.target, t.enabled, t.kind, t.address, t.header is not null as has_header, t.least_severity,
       t.repeat_after,
       (select max(n.sent_at) from alert.notification n
         where n.setup = t.setup and n.target = t.target) as last_sent_at,
       (select count(*) from alert.notification n
         where n.setup = t.setup and n.target = t.target and n.next_at is not null) as unsent,
       (select n.error from alert.notification n
         where n.setup = t.setup and n.target = t.target and n.attempts > 0
         order by n.notification_id desc limit 1) as error
  from alert.target t
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view alert.target_now is 'Targets of alerts, and the notifications on their way to them. For operators.';
comment on column alert.target_now.has_header is 'Whether a header Authorization is sent.';
comment on column alert.target_now.last_sent_at is 'When a notification was last sent; null = never.';
comment on column alert.target_now.unsent is 'Notifications that are not sent yet.';
comment on column alert.target_now.error is
  'Reason why the last notification that was tried failed; null = it did not fail.';
