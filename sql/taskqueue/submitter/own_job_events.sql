-- An id that was inserted again may have been a job of another owner before.
create or replace function taskqueue.own_job_events(p_setup text, p_job_id bigint)
returns table (at timestamptz, attempt_number int, event text, site text, grid_ce text, host text, error_class text,
               error_text text, cpu_used real, wall_used real, ram_used real, cores_used smallint,
               retry_rule text, passive_rule text, failures smallint, why text)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform taskqueue.require_own_job(v_identity, p_job_id);
  return query
    select e.at, e.attempt, e.event, e.site, e.grid_ce, e.host, e.error_class, taskqueue.shown_error(e.error),
           e.cpu_used, e.wall_used, e.ram_used, e.cores_used, e.retry_rule,
           e.passive_rule, e.failures, e.why
      from (select m.definition_id, m.at, m.attempt, 'matched' as event, m.site, m.grid_ce, null::text as host,
                   null::text as error_class, null::jsonb as error, null::real as cpu_used, null::real as wall_used,
                   null::real as ram_used, null::smallint as cores_used,
                   null::text as retry_rule, null::text as passive_rule, null::smallint as failures, null::text as why
              from taskqueue.match m
             where m.setup = p_setup and m.job_id = p_job_id
            union all
            select h.definition_id, h.at, h.attempt, h.event, h.site, h.grid_ce, h.host, h.error_class, h.error,
                   h.cpu_used, h.wall_used, h.ram_used, h.cores_used, h.retry_rule,
                   h.passive_rule, h.failures, h.why
              from taskqueue.history h
             where h.setup = p_setup and h.job_id = p_job_id and h.event <> 'matched') e
     where not v_identity.private or not exists (
             select from taskqueue.kept_definition k
              where k.setup = p_setup and k.definition_id = e.definition_id
                and (k.owner_dn <> v_identity.owner_dn or k.owner_group <> v_identity.owner_group))
     order by e.at, e.attempt, e.event <> 'matched', e.event <> 'running';
end $$;

comment on function taskqueue.own_job_events(text, bigint) is
  'Events of a job of the calling submitter in TaskQueues, for as long as its history is kept: matched, running, '
  'released, expired, finished, ... The end of a lease has the worker node, the errors with their class, the figures '
  'of the run, the retry rule that decided, the passive rule before it, and the number of the failure; that of a '
  'cancelled job has the reason. Errors: PB002 (setup or owner not granted), PB004 (its owner is not known).';
