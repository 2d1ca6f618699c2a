-- The shape of a batch for taskqueue.insert_jobs, checked before anything is stored.
create or replace function taskqueue.check_batch(p_jobs jsonb) returns bigint
language plpgsql immutable as $$
declare
  v_bad jsonb;
  v_ids bigint[];
  v_count bigint;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(left(p_jobs::text, 100), 'null')
      using errcode = 'PB001', hint = 'Give an array of {job_id, requirements, user_priority} or {requirements, jobs}.';
  end if;
  select e into v_bad from jsonb_array_elements(p_jobs) e
   where jsonb_typeof(e) <> 'object'
      or e - '{job_id,requirements,user_priority,payload}'::text[] <> '{}' and e - '{requirements,jobs}'::text[] <> '{}'
      or not e ? 'requirements'
      or jsonb_typeof(coalesce(e -> 'jobs', '[]')) <> 'array'
      or e @? 'strict $.jobs[*] ? (@.type() != "array" || @.size() < 1 || @.size() > 3)'
   limit 1;
  if found then
    raise exception 'this element is neither a job nor a group of jobs: %', left(v_bad::text, 200)
      using errcode = 'PB001',
            hint = 'An element is {job_id, requirements, user_priority, payload} or {requirements, jobs: [[id, '
                   'user_priority, payload], ...]}.';
  end if;
  select array_agg(taskqueue.submitted_id(n.id)),
         count(taskqueue.job_priority(taskqueue.job_id(n.id),
                                      taskqueue.one_number('user_priority of job ' || n.id::text, n.priority)))
    into v_ids, v_count
    from jsonb_array_elements(p_jobs) e
   cross join lateral (
          select e -> 'job_id' as id, coalesce(e -> 'user_priority', '1') as priority where not e ? 'jobs'
          union all
          select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n;
  if v_count > 100000 then
    raise exception '% jobs in one call', v_count
      using errcode = 'PB001', hint = 'A call takes up to 100,000 jobs; use several calls.';
  end if;
  if v_count > (select count(distinct i) from unnest(v_ids) i) then
    raise exception 'job_id % is given more than once',
      (select i from unnest(v_ids) i group by i having count(*) > 1 order by i limit 1)
      using errcode = 'PB001', hint = 'Give each job once per call.';
  end if;
  return v_count;
end $$;

comment on function taskqueue.check_batch(jsonb) is
  'How many jobs a batch holds; its shape, ids and user priorities are checked. Errors: PB001, naming the element.';
