-- The jobs of a call are checked before anything is stored. The JSON is read once; each distinct text of requirements
-- is made canonical once.
create or replace function taskqueue.read_batch(
  p_setup text, p_jobs jsonb, p_made boolean, out requirements jsonb[], out elements int[], out numbers int[],
  out job_ids bigint[], out user_priorities int[], out payloads jsonb[]
)
language plpgsql as $$
declare
  v_read record;
  v_numbers int[];  -- the number of the requirements of each element
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(resource.shown(p_jobs), 'null')
      using errcode = 'PB001', hint = 'Give an array of {job_id, requirements, user_priority} or {requirements, jobs}.';
  end if;
  with element as materialized (
    select e.n, e.value, e.value -> 'requirements' as requirements,
           case when jsonb_typeof(e.value) = 'object'
                then e.value ? 'requirements'
                     and (e.value - '{job_id,requirements,user_priority,payload}'::text[] = '{}'
                          or e.value - '{requirements,jobs}'::text[] = '{}')
                     and jsonb_typeof(coalesce(e.value -> 'jobs', '[]')) = 'array'
                     and (e.value @? 'strict $.jobs[*] ? (@.type() != "array" || @.size() < 1 || @.size() > 3)')
                         is not true
                else false end as is_right
      from jsonb_array_elements(p_jobs) with ordinality e (value, n)
  ), job as materialized (
    select e.n, j.id, j.priority, nullif(j.payload, 'null') as payload
      from element e
     cross join lateral (
            select e.value -> 'job_id' as id, coalesce(e.value -> 'user_priority', '1') as priority,
                   e.value -> 'payload' as payload
             where not e.value ? 'jobs'
            union all
            select j -> 0, coalesce(j -> 1, '1'), j -> 2 from jsonb_array_elements(e.value -> 'jobs') j) j
     where e.is_right
  )
  select (select e.value from element e where not e.is_right order by e.n limit 1) as wrong,
         array(select e.requirements from element e order by e.n) as requirements, j.*
    into v_read
    from (select array_agg(j.n::int) as elements, array_agg(j.id) as ids, array_agg(j.priority) as priorities,
                 array_agg(j.payload) as payloads from job j) j;
  if v_read.wrong is not null then
    raise exception 'this element is neither a job nor a group of jobs: %', left(v_read.wrong::text, 200)
      using errcode = 'PB001',
            hint = 'An element is {job_id, requirements, user_priority, payload} or {requirements, jobs: [[id, '
                   'user_priority, payload], ...]}.';
  end if;
  select array_agg(case when p_made then taskqueue.job_id(n.id) else taskqueue.submitted_id(n.id) end),
         array_agg(taskqueue.job_priority(taskqueue.job_id(n.id),
                                          taskqueue.one_number('user_priority of job ' || n.id::text, n.priority)))
    into job_ids, user_priorities
    from unnest(v_read.ids, v_read.priorities) n (id, priority);
  if cardinality(job_ids) > 100000 then
    raise exception '% jobs in one call', cardinality(job_ids)
      using errcode = 'PB001', hint = 'A call takes up to 100,000 jobs; use several calls.';
  end if;
  if cardinality(job_ids) > (select count(distinct i) from unnest(job_ids) i) then
    raise exception 'job_id % is given more than once',
      (select i from unnest(job_ids) i group by i having count(*) > 1 order by i limit 1)
      using errcode = 'PB001', hint = 'Give each job once per call.';
  end if;
  elements := v_read.elements;
  payloads := v_read.payloads;
  perform taskqueue.require_payloads(p_setup, 'job', job_ids, payloads);
  with raw as materialized (
    select r.requirements, taskqueue.canonical_requirements(p_setup, r.requirements) as canonical
      from (select distinct u.requirements from unnest(v_read.requirements) u (requirements)) r
  ), canonical as materialized (
    select c.canonical, row_number() over (order by c.digest)::int as number
      from (select distinct r.canonical, md5(r.canonical::text)::uuid as digest from raw r) c
  )
  select array(select c.canonical from canonical c order by c.number),
         array(select c.number
                 from unnest(v_read.requirements) with ordinality u (requirements, n)
                 join raw r using (requirements)
                 join canonical c using (canonical)
                order by u.n)
    into requirements, v_numbers;
  numbers := array(select v_numbers[u] from unnest(elements) u);
end $$;

comment on function taskqueue.read_batch(text, jsonb, boolean) is
  'The checked jobs of a batch as parallel arrays: the element from which each job comes, the number of its '
  'requirements, its id, user priority and payload; and the distinct canonical requirements in the order of their '
  'digests. p_made: also takes the ids of jobs that brokerage makes. Errors: PB001, naming the element or the job.';
