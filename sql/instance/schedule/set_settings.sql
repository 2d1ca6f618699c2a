create or replace function instance.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql security definer set search_path = instance, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  perform resource.change_settings('instance.setting', p_setup, p_settings);
end $$;

comment on function instance.set_settings(text, jsonb) is
  'Changes how instances are scheduled in a setup, all or none. The settings are the columns of instance.setting: '
  'most_instances and most_per_task (the limits on instances that are not released, in all and per task; null means no '
  'limit), first (the steps that are placed first, by the price of the type that each requires: dearest or cheapest). '
  'Errors: PB001 (key or value), PB002 (setup not granted).';
