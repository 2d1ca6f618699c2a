create or replace view alert.silence_now as
select s.setup, s.rule, s.labels, s.until, s.why
  from alert.silence s
 where s.until > now() and (s.setup = (select resource.bound_setup())) is not false;

comment on view alert.silence_now is 'Silences of alerts that have not ended (alert.silence_alerts).';
comment on column alert.silence_now.setup is 'Setup.';
