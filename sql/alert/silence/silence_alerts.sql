-- A null or zero p_for ends the silence.
create or replace function alert.silence_alerts(
  p_setup text, p_rule text, p_for interval, p_only text default null, p_why text default null
) returns timestamptz
language plpgsql security definer set search_path = alert, pg_temp as $$
declare
  v_by text;
  v_labels jsonb;
  v_before alert.silence;
  v_after alert.silence;
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  select r.by_label into v_by from alert.rule_in_force r where r.setup = p_setup and r.rule = p_rule;
  if not found then
    raise exception 'there is no rule % in setup %', resource.shown(to_jsonb(p_rule)), p_setup
      using errcode = 'PB004', hint = 'broker alerts rules lists them.';
  end if;
  if p_only is not null and v_by is null then
    raise exception 'only is %, but rule % judges all series together', resource.shown(to_jsonb(p_only)), p_rule
      using errcode = 'PB001', hint = 'Leave the value out: the rule has one alert.';
  elsif p_for < '0' or p_for > '90 days' then
    raise exception 'for is %, which is not within 0 and 90 days', p_for
      using errcode = 'PB001', hint = 'A time such as "2 hours"; 0 ends the silence.';
  end if;
  perform resource.require_short('only', p_only, 400), resource.require_short('why', p_why);
  v_labels := case when p_only is null then '{}' else jsonb_build_object(v_by, p_only) end;
  perform pg_advisory_xact_lock(hashtext('alert.silence_alerts'), hashtext(p_setup));
  select s.* into v_before from alert.silence s where s.setup = p_setup and s.rule = p_rule and s.labels = v_labels;
  if coalesce(p_for, '0') > '0' then
    v_after := (p_setup, p_rule, v_labels, now() + p_for, p_why);
    insert into alert.silence select v_after.*
        on conflict (setup, rule, labels) do update set (until, why) = (select v_after.until, v_after.why);
  else
    delete from alert.silence s where s.setup = p_setup and s.rule = p_rule and s.labels = v_labels;
  end if;
  if v_before.setup is not null or v_after.setup is not null then
    perform resource.note_change(p_setup, 'silence', p_rule, to_jsonb(v_before) - '{setup,rule}'::text[],
                                 to_jsonb(v_after) - '{setup,rule}'::text[]);
  end if;
  return v_after.until;
end $$;

comment on function alert.silence_alerts(text, text, interval, text, text) is
  'Silences the alerts of a rule for a time of at most 90 days: they begin, fire and end as before, but are not sent. '
  'p_only: only alerts about this site, owner group or other value of the label by which the rule judges; null = all. '
  'p_for null or 0 ends the silence. An alert that still fires at the end of the silence is sent then, and the end of '
  'an alert that was sent before is sent at once. Returns the end of the silence, null if there is none. Errors: PB001 '
  '(a value, a reason or a time that does not fit), PB002 (setup not granted), PB004 (no such rule).';
