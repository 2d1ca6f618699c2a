-- software-check.md, Task architecture: without # the CPU is implied; documented takes the first part of sw_platform,
-- panda2026 that of the whole text. JSON implies no CPU, but its encoded_platform, a text of the other form, does.
create or replace function brokerage.read_architecture(p_architecture text, p_base_profile text) returns jsonb
language plpgsql stable as $$
declare
  v_problem text := brokerage.architecture_problem(p_architecture, p_base_profile);
  v_json jsonb;
  v_platform text;
  v_cpu text;
  v_gpu text := nullif(substring(p_architecture from '&([^@#^]*)'), '');
begin
  if v_problem is not null or p_architecture is null then
    return jsonb_build_object('problem', v_problem);
  end if;
  if ltrim(p_architecture, E' \t\r\n') like '{%' then
    v_json := brokerage.architecture_json(p_architecture);
    return case when v_json ->> 'encoded_platform' <> ''
                then brokerage.read_architecture(v_json ->> 'encoded_platform', p_base_profile)
                else '{"sw_platform": "", "base_platform": null, "cpu": null, "gpu": null, "level": null}' end
    || jsonb_strip_nulls(jsonb_build_object(
      'sw_platform', nullif(v_json ->> 'sw_platform', ''),
      'base_platform', nullif(v_json ->> 'base_platform', ''),
      'cpu', (select jsonb_agg('{"arch": "*", "vendor": "*", "instr": "*"}' || jsonb_strip_nulls(s))
                from jsonb_array_elements(
                  case when jsonb_typeof(v_json -> 'cpu_specs') = 'array' then v_json -> 'cpu_specs' else '[]' end) s),
      'gpu',
      case when jsonb_typeof(v_json -> 'gpu_spec') = 'object'
           then '{"vendor": "*", "model": "*"}' || jsonb_strip_nulls(v_json -> 'gpu_spec') end,
      'level', v_json #>> '{cpu_pref,preferred_architecture_level}'));
  end if;
  v_platform := substring(p_architecture from '^[^@#&]*');
  v_cpu := case when p_architecture like '%#%' then substring(p_architecture from '#([^@&^]*)')
                when p_base_profile = 'documented' then split_part(v_platform, '-', 1)
                when p_architecture !~ '^[@&^]' then split_part(p_architecture, '-', 1) end;
  return jsonb_build_object(
    'sw_platform', v_platform,
    'base_platform', nullif(substring(p_architecture from '@([^#&]*)'), ''),
    'cpu', case when v_cpu = '' then null
                when p_architecture like '%#%' then brokerage.cpu_requirement(v_cpu, p_base_profile)
                when v_cpu is not null
                then jsonb_build_array(jsonb_build_object('arch', v_cpu, 'vendor', '*', 'instr', '*')) end,
    'gpu',
    brokerage.gpu_requirement(case when p_base_profile = 'documented' then split_part(v_gpu, ':', 1) else v_gpu end));
end $$;

comment on function brokerage.read_architecture(text, text) is
  'An architecture as an object: sw_platform, base_platform, cpu (alternatives {arch, vendor, instr}), gpu, '
  'level (preferred), or problem. Base profile documented or panda2026.';
