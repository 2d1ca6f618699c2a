-- An alert of a rule that is not judged does not change. An alert ends when its rule is removed or switched off.
create or replace function alert.change_alerts(p_setup text, p_at timestamptz) returns bigint
language plpgsql as $$
declare
  v_found alert.alert[];
  v_unknown text[];
  v_fired bigint;
  v_ended bigint;
begin
  select coalesce(array_agg((null, p_setup, v.rule, v.labels, r.severity,
                             alert.rendered(r, v.labels, v.value), v.value, p_at,
                             case when r.lasting = '0' then p_at end, null, null, null)::alert.alert)
                    filter (where v.judged), '{}'),
         coalesce(array_agg(v.rule) filter (where not v.judged), '{}')
    into v_found, v_unknown
    from alert.violations(p_setup, p_at) v
    join alert.rule_in_force r on r.setup = p_setup and r.rule = v.rule;
  delete from alert.alert a
   where a.setup = p_setup and a.ended_at is null and a.fired_at is null and a.rule <> all (v_unknown)
     and not exists (select from unnest(v_found) f where f.rule = a.rule and f.labels = a.labels);
  update alert.alert a set ended_at = p_at
   where a.setup = p_setup and a.ended_at is null and a.rule <> all (v_unknown)
     and not exists (select from unnest(v_found) f where f.rule = a.rule and f.labels = a.labels);
  get diagnostics v_ended = row_count;
  insert into alert.alert as o (setup, rule, labels, severity, summary, value, since, fired_at)
  select f.setup, f.rule, f.labels, f.severity, f.summary, f.value, f.since, f.fired_at from unnest(v_found) f
      on conflict (setup, rule, labels) where ended_at is null do update
     set severity = excluded.severity, summary = excluded.summary, value = excluded.value,
         fired_at = coalesce(o.fired_at, (select p_at from alert.rule_in_force r
                                           where r.setup = p_setup and r.rule = o.rule
                                             and p_at - o.since >= r.lasting));
  update alert.alert a set began_at = b.began_at, usual = b.usual
    from alert.beginnings(p_setup, p_at) b
   where a.setup = p_setup and a.alert_id = b.alert_id;
  select count(*) into v_fired
    from alert.alert a where a.setup = p_setup and a.fired_at = p_at and a.ended_at is null;
  delete from alert.alert a where a.setup = p_setup and a.ended_at < p_at - interval '90 days';
  return v_fired + v_ended;
end $$;

comment on function alert.change_alerts(text, timestamptz) is
  'Begins, fires and ends alerts according to the conditions that hold for a minute. Returns the number of alerts that '
  'began to fire or ended. Alerts that ended more than 90 days before are removed.';
