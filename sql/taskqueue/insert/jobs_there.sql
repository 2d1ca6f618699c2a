-- MATCHING.md, Insertion. A job that waits is moved, and one that has ended starts again: a person who submits a file
-- twice needs this information, and so does one whose CPU times change (MATCHING.md, CPU buckets). This is a call of
-- its own, so that insertion does not become slower. It is made before the insertion, and other calls may change the
-- jobs in between, so the numbers are only information for people.
create or replace function taskqueue.jobs_there(p_setup text, p_jobs jsonb)
returns table (waiting bigint, ended bigint, raised bigint, cut bigint)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'jobs', taskqueue.json_size(p_jobs));
  return query
  with id as materialized (
    select i.id::numeric::bigint as job_id
      from (select jsonb_path_query(p_jobs, '$[*].job_id') as id
            union all
            select jsonb_path_query(p_jobs, '$[*].jobs[*][0]')) i
     where case when jsonb_typeof(i.id) = 'number'
                then i.id::numeric between 1 and 9223372036854775807 and i.id::numeric % 1 = 0 end
  )
  select count(j.job_id), count(e.job_id), c.raised, c.cut
    from (select coalesce(sum(t.jobs) filter (where t.cpu_time <= b.buckets[1] and t.cpu_time <> all (b.buckets)),
                          0)::bigint as raised,
                 coalesce(sum(t.jobs) filter (where t.cpu_time > b.buckets[1]), 0)::bigint as cut
            from (select case jsonb_typeof(e.value -> 'jobs') when 'array' then jsonb_array_length(e.value -> 'jobs')
                              else 1 end as jobs,
                         case jsonb_typeof(e.value #> '{requirements,CPUTime}')
                           when 'number' then (e.value #> '{requirements,CPUTime}')::numeric end as cpu_time
                    from jsonb_array_elements(case jsonb_typeof(p_jobs) when 'array' then p_jobs else '[]' end) e) t
           cross join (select coalesce(array_agg(k.cpu_time order by k.cpu_time desc),
                                       (select array_agg(d order by d desc)
                                          from unnest(taskqueue.default_cpu_buckets()) d)) as buckets
                         from taskqueue.cpu_bucket k where k.setup = p_setup) b) c
    left join id i on true
    left join taskqueue.job j on j.setup = p_setup and j.job_id = i.job_id
    left join taskqueue.ended e on e.setup = p_setup and e.job_id = i.job_id and j.job_id is null
   group by c.raised, c.cut;
end $$;

comment on function taskqueue.jobs_there(text, jsonb) is
  'The number of jobs of a batch (as for taskqueue.insert_jobs) that already wait, and of those that have ended. '
  'Insertion moves the former and starts the latter again. It raises the CPU time of some jobs to the next CPU bucket, '
  'and cuts that of others to the highest. Errors: PB001, PB002 (setup not granted).';
