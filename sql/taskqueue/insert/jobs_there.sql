-- MATCHING.md, Insertion. A job that waits is moved, and one that has ended starts again: a person who submits a file
-- twice needs this information. This is a call of its own, so that insertion does not become slower. It is made before
-- the insertion, and other calls may change the jobs in between, so the numbers are only information for people.
create or replace function taskqueue.jobs_there(p_setup text, p_jobs jsonb) returns table (waiting bigint, ended bigint)
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
  select count(j.job_id), count(e.job_id)
    from id i
    left join taskqueue.job j on j.setup = p_setup and j.job_id = i.job_id
    left join taskqueue.ended e on e.setup = p_setup and e.job_id = i.job_id and j.job_id is null;
end $$;

comment on function taskqueue.jobs_there(text, jsonb) is
  'The number of jobs of a batch (as for taskqueue.insert_jobs) that already wait, and of those that have ended. '
  'Insertion moves the former and starts the latter again. Errors: PB001, PB002 (setup not granted).';
