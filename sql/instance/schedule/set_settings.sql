create or replace function instance.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql
security definer set search_path = instance, pg_temp
as $$
declare
  v_bad record;
begin
  perform resource.identify(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %', coalesce(p_settings::text, 'null')
      using errcode = 'PB001', hint = 'Give an object: {"most_instances": 100}.';
  end if;
  select s.key, s.value into v_bad
    from jsonb_each(p_settings) s
   where case when s.key = 'first' then s.value in ('"dearest"', '"cheapest"')
              when s.key in ('most_instances', 'most_per_task') then s.value::text ~ '^([0-9]{1,9}|null)$'
              else false end is not true
   order by s.key limit 1;
  if found then
    raise exception 'setting % is %', v_bad.key, v_bad.value
      using errcode = 'PB001',
            hint = 'Settings are most_instances and most_per_task (instances that are not released; '
                   'null = no limit) and first ("dearest" or "cheapest").';
  end if;
  perform resource.require_setup(p_setup);
  insert into instance.setting (setup) values (p_setup) on conflict do nothing;
  update instance.setting s
     set most_instances = case when p_settings ? 'most_instances' then (p_settings ->> 'most_instances')::int
                               else s.most_instances end,
         most_per_task = case when p_settings ? 'most_per_task' then (p_settings ->> 'most_per_task')::int
                              else s.most_per_task end,
         first = coalesce(p_settings ->> 'first', s.first)
   where s.setup = p_setup;
end $$;

comment on function instance.set_settings(text, jsonb) is
  'Changes how instances are scheduled in a setup: most_instances and most_per_task (instances that are not released, '
  'of all and of a task; null = no limit), first (which jobs go first by the price of what each requires: dearest, '
  'cheapest). All or none. Errors: PB001 (an unknown setting, no such value), PB002 (setup not granted).';
