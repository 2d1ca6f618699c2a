-- What jobs say of themselves, checked before anything is stored: keys, types, values; which element it is.
create or replace function instance.refuse_needs(p_jobs jsonb, p_keys text[]) returns void
language plpgsql stable
as $$
declare
  v_wrong record;
  v_hint text := format('An element has %s; cpu (cores) and ram (MB) are numbers, or texts: expressions of inputs '
                        '({"size": 2048}).', array_to_string(p_keys, ', '));
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception 'jobs are %, not an array', coalesce(left(p_jobs::text, 100), 'null')
      using errcode = 'PB001', hint = v_hint;
  end if;
  select e.place, x.key, x.value, x.wanted into v_wrong
    from jsonb_array_elements(p_jobs) with ordinality e (job, place)
   cross join lateral (
     select null as key, e.job as value, 'an object' as wanted where jsonb_typeof(e.job) <> 'object'
     union all
     select k.key, k.value,
            case when k.key <> all (p_keys) then 'a key that jobs have'
                 when k.key in ('id', 'task') and not resource.suits('an integer of 64 bits', k.value) then 'an integer'
                 when k.key = 'id' and (k.value #>> '{}')::numeric not between 1 and 1e18 then 'between 1 and 1e18'
                 when k.key in ('cpu', 'ram') and jsonb_typeof(k.value) = 'number'
                      and not (k.value #>> '{}')::numeric between 0 and case k.key when 'cpu' then 1e9 else 1e15 end - 1
                   then format('0 or more, and less than %s', case k.key when 'cpu' then '1e9' else '1e15' end)
                 when k.key in ('cpu', 'ram') and jsonb_typeof(k.value) not in ('number', 'string', 'null')
                 then 'a number, or an expression as text'
                 when k.key = 'instance_type' and jsonb_typeof(k.value) not in ('string', 'null') then 'a text'
                 when k.key = 'inputs' and jsonb_typeof(k.value) <> 'object' then 'an object' end
       from jsonb_each(case jsonb_typeof(e.job) when 'object' then e.job else '{}' end) k
     union all
     select 'inputs.' || i.key, i.value, 'a number'
       from jsonb_each(case when jsonb_typeof(e.job -> 'inputs') = 'object' then e.job -> 'inputs' else '{}' end) i
      where jsonb_typeof(i.value) <> 'number'
     union all
     select 'id', null, 'there'
      where p_keys[1] = 'id' and 'task' <> all (p_keys) and e.job -> 'id' is null and jsonb_typeof(e.job) = 'object'
   ) x
   where x.wanted is not null
   order by e.place, x.key limit 1;
  if found then
    raise exception '%',
      case when v_wrong.wanted = 'there' then format('jobs[%s]: %s is missing', v_wrong.place - 1, v_wrong.key)
           else format('jobs[%s]%s: %s is not %s', v_wrong.place - 1, '.' || v_wrong.key,
                       left(v_wrong.value::text, 100), v_wrong.wanted) end
      using errcode = 'PB001', hint = v_hint;
  end if;
  select e.job ->> 'id' as job_id into v_wrong
    from jsonb_array_elements(p_jobs) e (job) where e.job ->> 'id' is not null group by 1 having count(*) > 1 limit 1;
  if found then
    raise exception 'job % is there twice', v_wrong.job_id using errcode = 'PB001', hint = 'Give each job once.';
  end if;
  for v_wrong in
    select min(e.place) as place, k.key, k.value #>> '{}' as expression
      from jsonb_array_elements(p_jobs) with ordinality e (job, place) cross join lateral jsonb_each(e.job) k
     where k.key in ('cpu', 'ram') and jsonb_typeof(k.value) = 'string'
     group by k.key, k.value order by 1, 2
  loop
    begin
      perform instance.evaluate(v_wrong.expression, '{}');
    exception when sqlstate 'PB001' then
      get stacked diagnostics v_hint = pg_exception_hint;
      raise exception 'jobs[%].%: %', v_wrong.place - 1, v_wrong.key, sqlerrm using errcode = 'PB001', hint = v_hint;
    end;
  end loop;
end $$;

comment on function instance.refuse_needs(jsonb, text[]) is
  'Refuses jobs that are no array of objects with these keys, naming element, key and value; also expressions that are '
  'none. Errors: PB001.';
