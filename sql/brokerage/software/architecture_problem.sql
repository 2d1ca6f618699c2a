-- An unreadable text never stops a batch: its task gets this error before the rules run. The CPU that sw_platform
-- implies may be a fragment of a regular expression; this is no error, since such a fragment equals only itself. A
-- condition on a GPU that satisfies_version cannot read would fit no GPU; documented reads no such condition.
create or replace function brokerage.architecture_problem(p_architecture text, p_base_profile text) returns text
language plpgsql stable as $$
declare
  v_json jsonb;
  v_platform text;
  v_cpu jsonb;
  v_gpu jsonb;
  v_problem text;
begin
  if length(p_architecture) > 1000 then
    return format('architecture has %s characters, more than 1000', length(p_architecture));
  end if;
  if ltrim(p_architecture, E' \t\r\n') like '{%' then
    v_json := brokerage.architecture_json(p_architecture);
    if v_json is null then
      return format('architecture is not JSON: %s', left(p_architecture, 100));
    end if;
    v_problem := coalesce(brokerage.architecture_shape(v_json), brokerage.unknown_architecture_key(v_json));
    if v_problem is not null then
      return 'architecture: ' || v_problem;
    end if;
    v_problem := brokerage.architecture_problem(v_json ->> 'encoded_platform', p_base_profile);
    if v_problem is not null then
      return v_problem;
    end if;
    v_platform := v_json ->> 'sw_platform';
    v_cpu := nullif(v_json -> 'cpu_specs', 'null');
    v_gpu := v_json -> 'gpu_spec';
  else
    v_platform := substring(p_architecture from '^[^@#&]*');
    v_cpu := brokerage.cpu_requirement(nullif(substring(p_architecture from '#([^@&^]*)'), ''), 'documented');
    v_gpu := brokerage.gpu_requirement(nullif(substring(p_architecture from '&([^@#^]*)'), ''));
  end if;
  v_problem := resource.pattern_problem(v_platform);
  if v_problem is not null then
    return format('architecture: sw_platform %s is %s', v_platform, v_problem);
  end if;
  v_problem := (
    select format('architecture: gpu %s is %s, not a comparison such as %s', k.key, v_gpu ->> k.key, k.example)
      from (values ('vram', '>=20000 (MB)'), ('version', '>=12.4'), ('driver_version', '>=575.1')) k(key, example)
     where p_base_profile <> 'documented' and v_gpu ->> k.key !~ '^([=!><]=|[><]) *[0-9]{1,18}([.][0-9]{1,18})* *$'
     limit 1);
  if v_problem is not null then
    return v_problem;
  end if;
  return (select format('architecture: CPU architecture %s is %s', a.arch, resource.pattern_problem(a.arch))
            from (select s ->> 'arch' from jsonb_array_elements(v_cpu) s) a(arch)
           where a.arch <> '*' and resource.pattern_problem(a.arch) is not null
           limit 1);
end $$;

comment on function brokerage.architecture_problem(text, text) is
  'The reason why the architecture of a task cannot be used: too long, not JSON, JSON of the wrong shape, a condition '
  'on a GPU that is no comparison with a number (panda2026), or an invalid regular expression; null if it can be '
  'used.';
