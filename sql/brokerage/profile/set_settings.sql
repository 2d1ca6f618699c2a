-- The profile that decides in a setup, and how long decisions are kept.
create or replace function brokerage.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_unknown text;
  v_bad record;
  v_setting brokerage.setting;
begin
  perform resource.identify(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %', coalesce(p_settings::text, 'null')
      using errcode = 'PB001', hint = 'Give an object: {"profile": "documented"}.';
  end if;
  select k.key
    into v_unknown
    from jsonb_object_keys(p_settings) k(key)
   where k.key not in ('profile', 'decisions_kept', 'counts_kept', 'assignments_count', 'makes_jobs')
   limit 1;
  if found then
    raise exception 'setting % is not known', v_unknown
      using errcode = 'PB001',
            hint = 'Settings are profile, decisions_kept, counts_kept, assignments_count, makes_jobs.';
  end if;
  select s.key, s.value
    into v_bad
    from jsonb_each(p_settings) s
   where s.key not in ('profile', 'makes_jobs') and not brokerage.is_wait(s.value)
   order by s.key
   limit 1;
  if found then
    raise exception 'setting % is %, not a time such as "2 days"', v_bad.key, v_bad.value
      using errcode = 'PB001', hint = 'Times are texts such as "2 days", longer than 0.';
  end if;
  if p_settings ? 'makes_jobs' and jsonb_typeof(p_settings -> 'makes_jobs') <> 'boolean' then
    raise exception 'setting makes_jobs is %', p_settings -> 'makes_jobs'
      using errcode = 'PB001', hint = 'Give true or false.';
  end if;
  if p_settings ? 'profile' then
    p_settings := p_settings || jsonb_build_object('profile', brokerage.profile_name(p_settings ->> 'profile'));
    perform brokerage.require_profile(p_settings ->> 'profile');
  end if;
  perform resource.require_setup(p_setup);
  insert into brokerage.setting (setup) values (p_setup) on conflict do nothing;
  select s.* into v_setting from brokerage.setting s where s.setup = p_setup for update;
  v_setting := jsonb_populate_record(v_setting, p_settings);
  update brokerage.setting s
     set profile = v_setting.profile, decisions_kept = v_setting.decisions_kept, counts_kept = v_setting.counts_kept,
         assignments_count = v_setting.assignments_count, makes_jobs = v_setting.makes_jobs
   where s.setup = p_setup;
end $$;

comment on function brokerage.set_settings(text, jsonb) is
  'Changes settings of brokerage in a setup: profile, and decisions_kept, counts_kept, assignments_count (times longer '
  'than 0 as text, "2 days"), makes_jobs (whether assigned jobs are made here). All or none. '
  'Errors: PB001 (an unknown setting or profile, no such time), PB002 (setup not granted).';
