create or replace function instance.refuse_needs(p_steps jsonb, p_keys text[]) returns void
language plpgsql stable as $$
declare
  v_wrong record;
  v_hint text := format('An element has %s; cpu (cores) and ram (MB) are numbers, or expressions of inputs as text '
                        '({"size": 2048}).', array_to_string(p_keys, ', '));
begin
  if jsonb_typeof(p_steps) is distinct from 'array' then
    raise exception 'steps are %, not an array', coalesce(resource.shown(p_steps), 'null')
      using errcode = 'PB001', hint = v_hint;
  elsif jsonb_array_length(p_steps) > 100000 then
    raise exception '% steps in one call', jsonb_array_length(p_steps)
      using errcode = 'PB001', hint = 'A call takes up to 100,000 steps; use several calls.';
  end if;
  select e.place, x.key, x.value, x.wanted into v_wrong
    from jsonb_array_elements(p_steps) with ordinality e (step, place)
   cross join lateral (
     select null as key, e.step as value, 'an object' as wanted where jsonb_typeof(e.step) <> 'object'
     union all
     select k.key, k.value,
            case when k.key <> all (p_keys) then 'a known key'
                 when k.key in ('id', 'task') and not resource.suits('an integer of 64 bits', k.value) then 'an integer'
                 when k.key = 'id' and (k.value #>> '{}')::numeric not between 1 and 1e18 then 'between 1 and 1e18'
                 when k.key in ('cpu', 'ram') and jsonb_typeof(k.value) = 'number'
                      and not (k.value #>> '{}')::numeric between 0 and case k.key when 'cpu' then 1e9 else 1e15 end - 1
                   then format('0 or more, and less than %s', case k.key when 'cpu' then '1e9' else '1e15' end)
                 when k.key in ('cpu', 'ram') and jsonb_typeof(k.value) not in ('number', 'string', 'null')
                 then 'a number, or an expression as text'
                 when k.key = 'instance_type' and jsonb_typeof(k.value) not in ('string', 'null') then 'a text'
                 when k.key = 'inputs' and jsonb_typeof(k.value) <> 'object' then 'an object' end
       from jsonb_each(case jsonb_typeof(e.step) when 'object' then e.step else '{}' end) k
     union all
     select 'inputs.' || i.key, i.value, 'a number'
       from jsonb_each(case when jsonb_typeof(e.step -> 'inputs') = 'object' then e.step -> 'inputs' else '{}' end) i
      where jsonb_typeof(i.value) <> 'number'
     union all
     select 'id', null, 'there'
      where p_keys[1] = 'id' and 'task' <> all (p_keys) and e.step -> 'id' is null and jsonb_typeof(e.step) = 'object'
   ) x
   where x.wanted is not null
   order by e.place, x.key limit 1;
  if found then
    raise exception '%',
      case when v_wrong.wanted = 'there' then format('steps[%s]: %s is missing', v_wrong.place - 1, v_wrong.key)
           else format('steps[%s]%s: %s is not %s', v_wrong.place - 1, '.' || left(v_wrong.key, 100),
                       resource.shown(v_wrong.value), v_wrong.wanted) end
      using errcode = 'PB001', hint = v_hint;
  end if;
  select e.step ->> 'id' as step_id into v_wrong
    from jsonb_array_elements(p_steps) e (step)
   where e.step ->> 'id' is not null
   group by 1
  having count(*) > 1
   limit 1;
  if found then
    raise exception 'step % is there twice', v_wrong.step_id using errcode = 'PB001', hint = 'Give each step once.';
  end if;
  for v_wrong in
    select min(e.place) as place, k.key, k.value #>> '{}' as expression
      from jsonb_array_elements(p_steps) with ordinality e (step, place) cross join lateral jsonb_each(e.step) k
     where k.key in ('cpu', 'ram') and jsonb_typeof(k.value) = 'string'
     group by k.key, k.value order by 1, 2
  loop
    begin
      perform instance.evaluate(v_wrong.expression, '{}');
    exception when sqlstate 'PB001' then
      get stacked diagnostics v_hint = pg_exception_hint;
      raise exception 'steps[%].%: %', v_wrong.place - 1, v_wrong.key, sqlerrm using errcode = 'PB001', hint = v_hint;
    end;
  end loop;
end $$;

comment on function instance.refuse_needs(jsonb, text[]) is
  'Refuses a value that is not an array of objects with these keys, and expressions that are not valid. Errors: PB001, '
  'naming the element, the key and the value.';
