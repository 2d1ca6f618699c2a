-- LEASES.md, Leases. Digits in a text are also an id: clients whose numbers cannot hold a bigint (JavaScript) get and
-- send ids as texts. The arrays are in the order of ids, so that two batches do not deadlock. An element is handled
-- alone if its job is named twice, or if its event is not a known one.
create or replace function taskqueue.read_reports(
  p_reports jsonb, p_keys text[], p_key text default null, p_default text default null, p_known text[] default null,
  out job_ids bigint[], out attempts text[], out numbers int[], out events text[], out subjects text[],
  out alone boolean[], out facts taskqueue.run_facts[]
)
language plpgsql as $$
declare
  v_number int;  -- number of the first wrong element
  v_unnamed int;  -- number of the first element without an id
  v_wrong jsonb;
begin
  if jsonb_typeof(p_reports) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(resource.shown(p_reports), 'null')
      using errcode = 'PB001', hint = format('Give [{%s}, ...].', array_to_string(p_keys, ', '));
  elsif jsonb_array_length(p_reports) > 10000 then
    raise exception '% jobs in one call', jsonb_array_length(p_reports)
      using errcode = 'PB001', hint = 'A call takes up to 10,000 jobs; use several calls.';
  end if;
  select array_agg(r.job_id), array_agg(r.attempt), array_agg(r.number), array_agg(r.event), array_agg(r.subject),
         array_agg(r.times > 1 or coalesce(r.event <> all (p_known), false) or (r.facts).fault is not null),
         array_agg(r.facts),
         min(r.n) filter (where r.job_id is null or not r.is_numbered or not r.has_known_keys),
         min(r.n) filter (where r.job_id is null)
    into job_ids, attempts, numbers, events, subjects, alone, facts, v_number, v_unnamed
    from (select e.n, i.job_id, i.is_numbered, e.element ->> 'attempt' as attempt,
                 case when i.is_numbered then (e.element ->> 'attempt_number')::int end as number,
                 case when e.element ? p_key then e.element ->> p_key else p_default end as event,
                 e.element ->> 'subject' as subject, count(*) over (partition by i.job_id) as times,
                 case when jsonb_typeof(e.element) = 'object' then e.element - p_keys = '{}' end as has_known_keys,
                 case when e.element ?| '{error,used,host}' then taskqueue.read_facts(e.element) end as facts
            from jsonb_array_elements(p_reports) with ordinality e (element, n)
           cross join lateral (select case when d.id between 1 and 9223372036854775807 and d.id % 1 = 0
                                           then d.id::bigint end as job_id,
                                      coalesce(jsonb_typeof(e.element -> 'attempt_number'), 'null') = 'null'
                                      or e.element ->> 'attempt_number' ~ '^[1-9][0-9]{0,8}$' as is_numbered
                                 from (select case when jsonb_typeof(e.element -> 'job_id') = 'number'
                                                     or e.element ->> 'job_id' ~ '^[1-9][0-9]{0,18}$'
                                                   then (e.element ->> 'job_id')::numeric end) d (id)) i
           order by i.job_id, e.n) r;
  if v_number is not null then
    v_wrong := p_reports -> v_number - 1;
    raise exception '%',
      case when jsonb_typeof(v_wrong) <> 'object'
           then format('element %s is %s, not an object', v_number, resource.shown(v_wrong))
           when v_wrong - p_keys <> '{}'
           then format('element %s has the key %L', v_number,
                       (select left(k, 100) from jsonb_object_keys(v_wrong - p_keys) k limit 1))
           else (select format('%s of element %s is %s', k, v_number, coalesce(resource.shown(v_wrong -> k), 'null'))
                   from (values (case v_number when v_unnamed then 'job_id' else 'attempt_number' end)) v (k)) end
      using errcode = 'PB001',
            hint = format('An element is an object with the keys %s.', array_to_string(p_keys, ', '));
  end if;
end $$;

comment on function taskqueue.read_reports(jsonb, text[], text, text, text[]) is
  'The checked elements of a call about many leased jobs, as arrays in the order of job ids. An element is an object '
  'with a job_id (a number, or its digits as a text), known keys, the event at p_key (by default p_default), and '
  'facts (error, used, host), which may have a fault. alone: whether the element cannot be handled together with the '
  'others. Errors: PB001, naming the element.';
