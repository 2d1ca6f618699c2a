create or replace view alert.sent as
select n.setup, n.notification_id, n.target, n.state, a.rule, a.labels, n.made_at, n.attempts, n.next_at, n.sent_at,
       n.error
  from alert.notification n
  left join alert.alert a on a.setup = n.setup and a.alert_id = n.alert_id
 where (n.setup = (select resource.bound_setup())) is not false;

comment on view alert.sent is 'Notifications that were sent, are on their way, or were given up. For operators.';
comment on column alert.sent.rule is 'Rule of the alert; null = a test.';
comment on column alert.sent.labels is 'Labels of the alert.';
