-- Whose timeouts apply, how much one call does, how long ended jobs and their history are kept.
create or replace function lifecycle.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql
security definer set search_path = lifecycle, pg_temp
as $$
declare
  v_bad record;
begin
  perform resource.identify(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %', coalesce(p_settings::text, 'null')
      using errcode = 'PB001', hint = 'Give an object: {"profile": "documented"}.';
  end if;
  select s.key, s.value into v_bad
    from jsonb_each(p_settings) s
   where case when s.key = 'profile' then s.value in ('"documented"', '"panda2026"')
              when s.key = 'most' then s.value #>> '{}' ~ '^[1-9][0-9]{0,8}$'
              when s.key in ('history_kept', 'jobs_kept') then brokerage.is_wait(s.value)
              else false end is not true
   order by s.key limit 1;
  if found then
    raise exception 'setting % is %', v_bad.key, v_bad.value
      using errcode = 'PB001',
            hint = 'Settings are profile ("documented" or "panda2026"), most (jobs a call, at least 1), '
                   'history_kept and jobs_kept (times such as "30 days").';
  end if;
  perform resource.require_setup(p_setup);
  insert into lifecycle.setting as s (setup, profile, most)
  values (p_setup, coalesce(p_settings ->> 'profile', 'documented'), coalesce((p_settings ->> 'most')::int, 10000))
  on conflict (setup) do update
     set profile = coalesce(p_settings ->> 'profile', s.profile), most = coalesce((p_settings ->> 'most')::int, s.most);
  insert into workload.setting as s (setup, history_kept, jobs_kept)
  values (p_setup, coalesce((p_settings ->> 'history_kept')::interval, '30 days'),
          coalesce((p_settings ->> 'jobs_kept')::interval, '30 days'))
  on conflict (setup) do update
     set history_kept = coalesce((p_settings ->> 'history_kept')::interval, s.history_kept),
         jobs_kept = coalesce((p_settings ->> 'jobs_kept')::interval, s.jobs_kept);
end $$;

comment on function lifecycle.set_settings(text, jsonb) is
  'Changes settings of the life of jobs in a setup: profile (whose timeouts apply: documented, panda2026), '
  'most (jobs that one call touches at most, by rule), history_kept and jobs_kept (times longer than 0 as text, '
  '"30 days"). All or none. Errors: PB001 (an unknown setting, no such value), PB002 (setup not granted).';
