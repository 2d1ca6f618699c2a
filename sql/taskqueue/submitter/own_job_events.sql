create or replace function taskqueue.own_job_events(p_setup text, p_job_id bigint)
returns table (at timestamptz, attempt int, event text, site text, grid_ce text)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.require_own_job(resource.identify(p_setup), p_job_id);
  return query
    select e.at, e.attempt, e.event, e.site, e.grid_ce
      from (select m.at, m.attempt, 'matched' as event, m.site, m.grid_ce
              from taskqueue.match m
             where m.setup = p_setup and m.job_id = p_job_id
            union all
            select h.at, h.attempt, h.event, h.site, h.grid_ce
              from taskqueue.history h
             where h.setup = p_setup and h.job_id = p_job_id and h.event <> 'matched') e
     order by e.at, e.attempt, e.event <> 'matched', e.event <> 'running';
end $$;

comment on function taskqueue.own_job_events(text, bigint) is
  'Events of a job of the calling submitter in TaskQueues, for as long as its history is kept: matched, running, '
  'released, expired, finished, ... Errors: PB002 (setup or owner not granted), PB004 (its owner is not known).';
