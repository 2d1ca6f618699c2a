-- LEASES.md, Leases. Digits in a text are an id, too: clients whose numbers are too small for a bigint (JavaScript's)
-- get ids as texts, and send them back so.
create or replace function taskqueue.check_reports(p_reports jsonb, p_keys text[]) returns void
language plpgsql as $$
declare
  v_wrong text;
begin
  if jsonb_typeof(p_reports) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(left(p_reports::text, 100), 'null')
      using errcode = 'PB001', hint = format('Give [{%s}, ...].', array_to_string(p_keys, ', '));
  elsif jsonb_array_length(p_reports) > 10000 then
    raise exception '% jobs in one call', jsonb_array_length(p_reports)
      using errcode = 'PB001', hint = 'A call takes up to 10,000 jobs; use several calls.';
  end if;
  select case
           when jsonb_typeof(e.element) <> 'object'
           then format('element %s is %s, not an object', e.number, left(e.element::text, 100))
           when k.key is not null then format('element %s has the key %L', e.number, left(k.key, 100))
           when (i.id between 1 and 9223372036854775807 and i.id % 1 = 0) is not true
           then format('job_id of element %s is %s', e.number, coalesce(resource.shown(e.element -> 'job_id'), 'null'))
           else format('attempt_number of element %s is %s', e.number, resource.shown(e.element -> 'attempt_number'))
         end into v_wrong
    from jsonb_array_elements(p_reports) with ordinality e (element, number)
    left join lateral (select o.key
                         from jsonb_object_keys(
                           case when jsonb_typeof(e.element) = 'object' then e.element else '{}' end) o (key)
                        where o.key <> all (p_keys)
                        limit 1) k on true
   cross join lateral (select case
                         when jsonb_typeof(e.element -> 'job_id') = 'number' then (e.element ->> 'job_id')::numeric
                         when e.element ->> 'job_id' ~ '^[1-9][0-9]{0,18}$' then (e.element ->> 'job_id')::numeric
                       end as id,
                       coalesce(jsonb_typeof(e.element -> 'attempt_number'), 'null') = 'null'
                       or e.element ->> 'attempt_number' ~ '^[1-9][0-9]{0,8}$' as is_numbered) i
   where jsonb_typeof(e.element) <> 'object' or k.key is not null
      or (i.id between 1 and 9223372036854775807 and i.id % 1 = 0) is not true or not i.is_numbered
   order by e.number limit 1;
  if v_wrong is not null then
    raise exception '%', v_wrong
      using errcode = 'PB001',
            hint = format('An element is an object with the keys %s.', array_to_string(p_keys, ', '));
  end if;
end $$;

comment on function taskqueue.check_reports(jsonb, text[]) is
  'Checks that reports or ends of many jobs are a list of objects with a job_id (a number, or its digits as a '
  'text) and known keys. Errors: PB001, naming the element.';
