create or replace function alert.judge(p_setup text) returns bigint
language plpgsql security definer set search_path = alert, pg_temp set jit = off as $$
declare
  v_at timestamptz;
  v_changed bigint;
begin
  perform resource.identify(p_setup);
  perform from resource.setup s where s.setup = p_setup for key share;  -- prevents its removal
  if not found or not pg_try_advisory_xact_lock(hashtext('alert.judge'), hashtext(p_setup)) then
    return null;
  end if;
  v_at := (select f.sampled_at from history.freshness f where f.setup = p_setup and f.is_sampled);
  if v_at is null or exists (select from alert.judged j where j.setup = p_setup and j.at >= v_at) then
    v_at := null;
  else
    insert into alert.judged (setup, at) values (p_setup, v_at)
        on conflict (setup) do update set at = excluded.at;
    v_changed := alert.change_alerts(p_setup, v_at);
  end if;
  perform alert.make_notifications(p_setup);
  return v_changed;
end $$;

comment on function alert.judge(text) is
  'Judges the rules of a setup by the last minute of the history of figures: alerts begin, fire and end, and their '
  'notifications are made. Returns the number of alerts that began to fire or ended; null if the minute was judged '
  'before, if it is older than five minutes (history.freshness), or if another call is judging it. '
  '`broker run` calls it (loop notify). Errors: PB002 (setup not granted).';
