-- MATCHING.md, Requirements: the definition of a TaskQueue in one form, so that equal requirements are equal JSON.
-- MATCHING.md, Refused requirements, lists the errors. The view taskqueue.requirement_key lists the keys.
-- Long because the order of the steps matters.
create or replace function taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) returns jsonb
language plpgsql as $$
declare
  v_out jsonb := jsonb '{}';
  v_key text;
  v_canonical_key text;
  v_type text;
  v_texts text[];
  v_value jsonb;
  v_new jsonb;
  v_same boolean;
  v_clauses jsonb := '{}'::jsonb;  -- the keys that become clauses, as they were given
  v_keep boolean := (select s.keep_gpus from taskqueue.setting s where s.setup = p_setup);
begin
  if pg_column_size(p_requirements) > 4096 then
    perform taskqueue.require_within(p_setup, 'requirements_size', 'requirements',
                                     taskqueue.json_size(p_requirements));
  end if;
  -- Requirements of a definition already have this form: a lookup takes 4 us, making the form takes 45 us.
  if exists (select from taskqueue.definition d
              where d.setup = p_setup and d.digest = md5(p_requirements::text)::uuid
                and d.requirements = p_requirements)
     and (not p_requirements ? 'Tags' or p_requirements ->> 'Tags' !~ '[0-9]GB"') then
    return p_requirements;
  end if;
  if jsonb_typeof(p_requirements) is distinct from 'object' then
    raise exception 'requirements are %, not a JSON object', coalesce(resource.shown(p_requirements), 'null')
      using errcode = 'PB001', hint = 'Give an object with OwnerDN, OwnerGroup and CPUTime at least.';
  end if;
  for v_key, v_value, v_canonical_key, v_type in
    select e.key, e.value, k.canonical_key, k.type
      from jsonb_each(p_requirements) e
      left join taskqueue.requirement_key k on k.key = e.key
  loop
    case v_type
      when 'text' then v_new := to_jsonb(taskqueue.one_text(v_key, v_value));
      when 'texts' then
        v_texts := taskqueue.text_set(v_key, v_value);
        v_new := to_jsonb(v_texts);
      when 'clauses' then
        v_clauses := v_clauses || jsonb_build_object(v_key, v_value);
        continue;
      when 'processors' then
        v_new := case when v_value <> 'null' then to_jsonb(taskqueue.number_of_processors(v_key, v_value)) end;
      when 'number' then
        v_new := case when v_value <> 'null' then to_jsonb(taskqueue.one_number(v_key, v_value)::float8) end;
      when 'cpu_time' then
        v_new := coalesce(to_jsonb(taskqueue.cpu_bucket_of(p_setup, taskqueue.one_number(v_key, v_value))), 'null');
      else
        raise exception 'unknown requirement % (value %)', left(v_key, 100), resource.shown(v_value)
          using errcode = 'PB001',
                hint = (select concat('The nearest is ' || n.name || '. ', format('Keys are %s.', k.keys))
                          from (select string_agg(k.key, ', ') as keys, array_agg(k.key) as names
                                  from taskqueue.requirement_key k) k
                          left join lateral resource.nearest_name(v_key, k.names) n(name) on n.name is not null);
    end case;
    if v_type = 'texts' and jsonb_array_length(v_new) > 100 then
      perform taskqueue.require_within(p_setup, 'most_names', v_key, jsonb_array_length(v_new));
    end if;
    if v_key = 'Setup' then
      if v_new <> to_jsonb(p_setup) then
        raise exception 'Setup is %, but the job goes to setup %', resource.shown(v_value), p_setup
          using errcode = 'PB001', hint = 'Omit Setup, or give the setup of the call.';
      end if;
      continue;
    end if;
    if v_key <> v_canonical_key and p_requirements ? v_canonical_key then
      v_value := p_requirements -> v_canonical_key;
      v_same := v_new = case v_type when 'text' then to_jsonb(taskqueue.one_text(v_canonical_key, v_value))
                                    else to_jsonb(taskqueue.text_set(v_canonical_key, v_value)) end;
      if not v_same then
        raise exception '% is % and % is %: they differ', v_key, resource.shown(p_requirements -> v_key),
          v_canonical_key, resource.shown(v_value)
          using errcode = 'PB001', hint = format('%s is an alias of %s; give one of them.', v_key, v_canonical_key);
      end if;
    end if;
    if v_new <> '[]' and not (coalesce(v_canonical_key in ('Sites', 'GridCEs', 'Platforms', 'JobTypes'), false)
                              and taskqueue.includes_any(v_texts)) then
      v_out := v_out || jsonb_build_object(coalesce(v_canonical_key, v_key), v_new);
    end if;
  end loop;
  if v_out ? 'MinNumberOfProcessors' then
    v_out := taskqueue.with_processor_tag(v_out);
  end if;
  -- the clause of keep_gpus does not count for the limits of a form, so that a stored form is valid input
  v_value := taskqueue.with_gpus_kept(v_clauses, false);
  if v_value <> v_clauses and v_clauses - 'Clauses' = '{}'
     and (v_value @? '$.Clauses[*].Attributes.keyvalue() ? (@.key starts with "gpu.")') is not true
     and exists (select from taskqueue.attribute a
                  where a.setup = p_setup and a.name = 'gpu.count' and a.type = 'number') then
    v_clauses := v_value;
    v_keep := true;
  end if;
  if v_clauses <> '{}' then
    v_out := v_out - '{Sites,Tags}'::text[] || taskqueue.known_clauses(
      p_setup, v_clauses || (select coalesce(jsonb_object_agg(o.key, o.value), '{}') from jsonb_each(v_out) o
                              where o.key in ('Sites', 'Tags')));
  end if;
  if v_out ->> 'Tags' ~ '[0-9]GB"' then
    v_out := taskqueue.without_memory_tags(p_setup, v_out);
  end if;
  v_out := taskqueue.with_processors(v_out);
  if v_keep then
    v_out := taskqueue.with_gpus_kept(v_out, true);
  end if;
  select k.key into v_key from taskqueue.requirement_key k where k.is_required and not v_out ? k.key limit 1;
  if found then
    raise exception '% is missing in the requirements %', v_key, left(p_requirements::text, 200)
      using errcode = 'PB001', hint = 'OwnerDN (or Owner), OwnerGroup and CPUTime are required.';
  end if;
  if (v_out ->> 'MinRAM')::float8 > (v_out ->> 'MaxRAM')::float8 then
    raise exception 'MinRAM is % MB, above MaxRAM, which is % MB', v_out -> 'MinRAM', v_out -> 'MaxRAM'
      using errcode = 'PB001', hint = 'MinRAM may be at most MaxRAM.';
  end if;
  return v_out;
end $$;

comment on function taskqueue.canonical_requirements(text, jsonb) is
  'The requirements in the one form by which TaskQueues are compared: aliases resolved, CPUTime as its bucket '
  '(seconds), lists as sorted sets, empty ones left out, memory tags as MinRAM, RAM in MB. Errors: PB001, naming key '
  'and value.';
