-- monitor.health covers the whole server and takes up to a second, so the first setup that samples a minute evaluates
-- it for all setups.
create or replace function history.findings_of_minute() returns setof history.value
language plpgsql as $$
declare
  v_minute timestamptz := date_trunc('minute', now(), 'UTC');
begin
  if not exists (select from history.finding f where f.at = v_minute) then
    delete from history.finding f where f.at < v_minute;
    insert into history.finding (at, area, verdict, findings)
    select v_minute, h.area, h.verdict, count(*)
      from monitor.health h group by h.area, h.verdict
        on conflict do nothing;
  end if;
  return query
    select 'findings', jsonb_build_object('area', f.area, 'verdict', f.verdict), f.findings::float8
      from history.finding f
     where f.at = v_minute and f.verdict <> 'ok';
end $$;

comment on function history.findings_of_minute() is
  'Figure findings: problems and advice of monitor.health by area, at the time when a setup first sampled this minute.';
