-- The row is for the minute that has just ended: events are counted over the minute, and states are measured at its
-- end.
create or replace function history.sample(p_setup text) returns bigint
language plpgsql security definer set search_path = history, pg_temp set jit = off as $$
declare
  v_at timestamptz;
  v_values history.value[];
begin
  perform resource.identify(p_setup);
  perform from resource.setup s where s.setup = p_setup for key share;  -- prevents its removal
  if not found or not pg_try_advisory_xact_lock(hashtext('history.sample'), hashtext(p_setup)) then
    return null;
  end if;
  v_at := date_trunc('minute', resource.clock(p_setup), 'UTC') - interval '1 minute';
  if exists (select from history.sample s where s.setup = p_setup and s.step = '1 minute' and s.at >= v_at) then
    return null;
  end if;
  v_values := array(
    select (f.figure, f.labels, f.value)::history.value
      from (select s.figure, s.labels, s.value from history.state_now s where s.setup = p_setup
             union all
            select * from history.events_between(p_setup, v_at, v_at + interval '1 minute')
             union all
            select * from history.findings_of_minute()) f
     where f.value > 0);
  v_values := array(
    select p from history.placed(p_setup, v_at, v_values,
                                 (select s.most_series from lifecycle.setting_in_force s where s.setup = p_setup)) p);
  insert into history.sample (setup, step, at, samples, mean)
  select p_setup, '1 minute', v_at, 1, coalesce(array_agg(coalesce(v.value, 0)::real order by s.place), '{}')
    from generate_series(1, (select max(i.place) from history.series i where i.setup = p_setup)) s (place)
    left join (select i.place, u.value
                 from unnest(v_values) u
                 join history.series i on i.setup = p_setup and i.figure = u.figure and i.labels = u.labels) v
           on v.place = s.place;
  perform history.compact(p_setup, '5 minutes', '1 minute', v_at);
  perform history.compact(p_setup, '1 hour', '5 minutes', v_at);
  perform history.compact(p_setup, '1 day', '1 hour', v_at);
  perform history.forget(p_setup, v_at);
  return cardinality(v_values);
end $$;

comment on function history.sample(text) is
  'Samples the figures of a setup for the minute that has just ended, makes the means of longer spans that have ended, '
  'and removes samples older than the retention. Returns the number of series that have a value; null if the minute '
  'already has its sample, or another call is making it. `broker run` calls it (loop sample). Errors: PB002 (setup not '
  'granted).';
