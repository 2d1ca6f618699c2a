create or replace function lifecycle.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if p_settings ? 'timeouts' and jsonb_typeof(p_settings) = 'object' then
    p_settings := p_settings || jsonb_build_object('timeouts', brokerage.profile_name(p_settings ->> 'timeouts'));
  end if;
  perform resource.require_setup(p_setup);
  perform resource.change_settings('lifecycle.setting', p_setup, p_settings);
end $$;

comment on function lifecycle.set_settings(text, jsonb) is
  'Changes settings of the life of jobs in a setup, all or none: timeouts (documented, with the alias doc, or '
  'panda2026; null means the base profile of the setup''s profile), most (jobs that one call touches at most, by '
  'rule), jobs_kept (how long ended jobs are kept: a text such as "30 days", or a number of seconds), '
  'minute_samples_kept, hour_samples_kept, day_samples_kept, most_series (the history of figures), loops (an array of '
  'the loops that the setup needs; null means the default of lifecycle.needed_loop). Errors: PB001 (key or value), '
  'PB002 (setup not granted).';
