-- ENDS.md, Facts of ends. The text of an error comes from a pilot: it is data of bounded size without control
-- characters. A wrong form is a fault of the program that sends it. This is one function of simple steps, because an
-- end costs 35 us in a batch. Figures are rounded, since a real cannot hold 1e-50.
create or replace function taskqueue.read_facts(p_given jsonb) returns taskqueue.run_facts
language plpgsql immutable as $$
declare
  v_facts taskqueue.run_facts;
  v_used jsonb := nullif(p_given -> 'used', 'null');
  v_error jsonb := nullif(p_given -> 'error', 'null');
  v_element jsonb;
  v_text text;
  v_code numeric;
begin
  if p_given -> 'host' <> 'null' then
    v_facts.host := taskqueue.host_of(p_given -> 'host');
    if v_facts.host is null then
      v_facts.fault := format('host is %s, not a name of 1 to 255 printable characters',
                              resource.shown(p_given -> 'host'));
      return v_facts;
    end if;
  end if;
  if v_used is not null then
    if jsonb_typeof(v_used) <> 'object' then
      v_facts.fault := format('used is %s, not an object', resource.shown(v_used));
    elsif v_used - '{cpu,wall,ram,cores}'::text[] <> '{}' then
      v_facts.fault := format('used has the key %L, not cpu, wall, ram or cores',
                              (select left(k, 100) from jsonb_object_keys(v_used - '{cpu,wall,ram,cores}'::text[]) k
                                limit 1));
    else
      v_facts.cpu_used := round(taskqueue.figure_within(v_used -> 'cpu', 1e15), 3);
      v_facts.wall_used := round(taskqueue.figure_within(v_used -> 'wall', 1e15), 3);
      v_facts.ram_used := round(taskqueue.figure_within(v_used -> 'ram', 1e15), 3);
      v_code := taskqueue.figure_within(v_used -> 'cores', 32767);
      v_facts.cores_used := case when v_code % 1 = 0 then v_code end;
      if v_facts.cpu_used is null or v_facts.wall_used is null or v_facts.ram_used is null
         or v_facts.cores_used is null then
        select format('%s of used is %s, not %s', u.key, resource.shown(u.value),
                      case u.key when 'cores' then 'an integer from 0 to 32767' else 'a number from 0 to 1e15' end)
          into v_facts.fault
          from jsonb_each(v_used) u
         where u.value <> 'null'
           and case u.key when 'cpu' then v_facts.cpu_used when 'wall' then v_facts.wall_used
                          when 'ram' then v_facts.ram_used else v_facts.cores_used end is null
         limit 1;
      end if;
    end if;
  end if;
  if v_facts.fault is not null or v_error is null or v_error = '[]' then
    return v_facts;
  elsif jsonb_typeof(v_error) <> 'array' or jsonb_array_length(v_error) > 7 then
    v_facts.fault := case when jsonb_typeof(v_error) = 'array'
                          then format('error has %s elements, not at most 7', jsonb_array_length(v_error))
                          else format('error is %s, not a list', resource.shown(v_error)) end;
    return v_facts;
  end if;
  v_facts.error := v_error;
  for i in 0 .. jsonb_array_length(v_error) - 1 loop
    v_element := v_error -> i;
    v_text := v_element ->> 'text';
    if jsonb_typeof(v_element) <> 'object' or v_element - '{source,code,text}'::text[] <> '{}'
       or v_text is not null and jsonb_typeof(v_element -> 'text') <> 'string' then
      v_facts.fault := format('error has %s, not an object {"source", "code", "text"}', resource.shown(v_element));
    elsif (jsonb_typeof(v_element -> 'source') = 'string' and v_element ->> 'source' ~ '^[a-z0-9_.-]{1,32}$')
          is not true then
      v_facts.fault := format('source is %s, not 1 to 32 of a-z, 0-9, _, . and -',
                              coalesce(resource.shown(v_element -> 'source'), 'missing'));
    elsif v_element ->> 'code' is not null then
      v_code := case when jsonb_typeof(v_element -> 'code') = 'number' then (v_element -> 'code')::numeric end;
      if (v_code between -2147483648 and 2147483647 and v_code % 1 = 0) is not true then
        v_facts.fault := format('code is %s, not an integer of 32 bits', resource.shown(v_element -> 'code'));
      end if;
    else
      v_code := null;
    end if;
    exit when v_facts.fault is not null;
    if length(v_text) > 200 or resource.unprintable(v_text) or scale(v_code) > 0 then
      v_facts.error := jsonb_set(v_facts.error, array[i::text], v_element || jsonb_strip_nulls(jsonb_build_object(
        'code', trunc(v_code),
        'text', regexp_replace(left(v_text, 200) collate "C", resource.unprintable_class(), ' ', 'g'))));
    end if;
  end loop;
  return v_facts;
end $$;

comment on function taskqueue.read_facts(jsonb) is
  'The facts in {"host", "error", "used"} as given with a report or an end, or their fault. The texts of '
  'errors are cut at 200 characters, and control characters in them become spaces.';
