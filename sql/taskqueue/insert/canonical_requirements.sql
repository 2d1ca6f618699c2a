-- Section 2: what defines a TaskQueue, in one form, so that equal requirements are equal
-- JSON; section 3: what is refused.
create or replace function taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) returns jsonb
language plpgsql stable
as $$
declare
  v_out jsonb := jsonb '{}';
  v_key text;
  v_value jsonb;
  v_texts text[];
begin
  -- What a definition holds is in that form: looking it up takes 4 us, working it out 25.
  if exists (select from taskqueue.definition d
              where d.setup = p_setup and d.digest = md5(p_requirements::text)::uuid
                and d.requirements = p_requirements) then
    return p_requirements;
  end if;
  if jsonb_typeof(p_requirements) is distinct from 'object' then
    raise exception 'requirements are %, not a JSON object', coalesce(p_requirements::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with OwnerDN, OwnerGroup and CPUTime at least.';
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_requirements) e loop
    case v_key
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the job goes to setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the requirements, or name the same.';
        end if;
        continue;
      when 'Owner', 'OwnerDN' then
        if v_out ? 'OwnerDN' and v_out ->> 'OwnerDN' <> taskqueue.one_text(v_key, v_value) then
          raise exception 'Owner is % and OwnerDN is %: they differ', p_requirements -> 'Owner',
            p_requirements -> 'OwnerDN'
            using errcode = 'PB001', hint = 'Owner is another name of OwnerDN; give one of them.';
        end if;
        v_out := v_out || jsonb_build_object('OwnerDN', taskqueue.one_text(v_key, v_value));
      when 'OwnerGroup' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.one_text(v_key, v_value));
      when 'CPUTime' then
        v_out := v_out
                 || jsonb_build_object(v_key, taskqueue.cpu_bucket_of(p_setup, taskqueue.one_number(v_key, v_value)));
      when 'MinRAM', 'MaxRAM' then
        if v_value <> 'null' then
          v_out := v_out || jsonb_build_object(v_key, taskqueue.one_number(v_key, v_value)::float8);
        end if;
      when 'SubmitPools', 'GridMiddlewares', 'PilotTypes', 'Sites', 'BannedSites', 'GridCEs', 'Platforms',
           'LHCbPlatforms', 'JobTypes', 'Tags' then
        v_texts := taskqueue.text_set(v_key, v_value);
        if v_key = 'LHCbPlatforms' and p_requirements ? 'Platforms'
           and v_texts <> taskqueue.text_set('Platforms', p_requirements -> 'Platforms') then
          raise exception 'LHCbPlatforms is % and Platforms is %: they differ', v_value, p_requirements -> 'Platforms'
            using errcode = 'PB001', hint = 'LHCbPlatforms is another name of Platforms; give one of them.';
        end if;
        if v_texts <> '{}' then
          v_out := v_out || jsonb_build_object(case v_key when 'LHCbPlatforms' then 'Platforms' else v_key end,
                                               to_jsonb(v_texts));
        end if;
      else
        raise exception 'requirement % (value %) is not known', v_key, v_value
          using errcode = 'PB001',
                hint = 'Known: Setup, OwnerDN (Owner), OwnerGroup, CPUTime, SubmitPools, GridMiddlewares, PilotTypes, '
                       'Sites, BannedSites, GridCEs, Platforms (LHCbPlatforms), JobTypes, Tags, MinRAM, MaxRAM.';
    end case;
  end loop;
  foreach v_key in array array['OwnerDN', 'OwnerGroup', 'CPUTime'] loop
    if not v_out ? v_key then
      raise exception '% is missing in the requirements %', v_key, p_requirements
        using errcode = 'PB001', hint = 'OwnerDN (or Owner), OwnerGroup and CPUTime are required.';
    end if;
  end loop;
  if (v_out ->> 'MinRAM')::float8 > (v_out ->> 'MaxRAM')::float8 then
    raise exception 'MinRAM is % MB, above MaxRAM, which is % MB', v_out -> 'MinRAM', v_out -> 'MaxRAM'
      using errcode = 'PB001', hint = 'MinRAM may be at most MaxRAM.';
  end if;
  return v_out;
end $$;

comment on function taskqueue.canonical_requirements(text, jsonb) is
  'The requirements in the one form that TaskQueues are compared by: aliases resolved, CPUTime as its bucket (s), '
  'lists as sorted sets, empty ones left out, RAM in MB. Errors: PB001, naming key and value (section 3).';
