-- MATCHING.md, Explanations: for each condition, the number of kinds of resources seen lately that fail it. A kind that
-- was parsed for taskqueue.find_reasons is not parsed again, unless limits are set at its site, since limits change
-- with each match. The kinds are those of taskqueue.resource_kind, but only the kinds seen last are read: kinds that
-- were rolled up, and kinds seen since then, with their rolled-up part.
create or replace function taskqueue.explain_job(p_setup text, p_job_id bigint, p_kinds int default null)
returns table (condition text, wanted text, failing bigint, seen bigint, last_seen timestamptz, remark text)
language plpgsql stable security definer set search_path = taskqueue, pg_temp set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
  v_identity resource.identity := resource.identify_viewer(p_setup);
  v_definition taskqueue.definition;
begin
  if p_kinds < 1 then
    raise exception 'p_kinds is %, which is less than 1', p_kinds using errcode = 'PB001';
  end if;
  perform taskqueue.require_own_job(v_identity, p_job_id);
  v_definition := taskqueue.definition_of_job(p_setup, p_job_id);
  v_identity.private := false;
  return query
    with since as materialized (
      select r.class, r.seen_at, r.resource from taskqueue.resources_not_rolled_up(p_setup) r
    ), kind as materialized (
      select i.class, max(i.last_seen) as last_seen, (array_agg(i.resource))[1] as resource
        from ((select c.class, c.last_seen, c.resource from taskqueue.resource_class c
                where c.setup = p_setup order by c.last_seen desc, c.class limit p_kinds)
               union all
              select c.class, c.last_seen, c.resource from taskqueue.resource_class c
               where c.setup = p_setup and c.class in (select s.class from since s)
               union all
              select s.class, s.seen_at, s.resource from since s) i
       group by i.class
       order by 2 desc, 1 limit p_kinds
    ), class as materialized (  -- otherwise the offer would be parsed 33 times, once for each condition
      select r.class, r.last_seen,
             case when k.offer is distinct from null and not (k.offer).limited then k.offer
                  else taskqueue.offer_once_made(p_setup, r.resource, v_identity) end as offer
        from kind r
        left join taskqueue.parsed_kinds(p_setup, array(select i.class from kind i)) k on k.class = r.class
    ), wanted as materialized (  -- these texts depend on the job alone, so they are not made for each kind
      select c.condition, c.wanted from taskqueue.condition(v_definition, null) c
    ), verdict as (
      select c.condition, count(*) filter (where not c.holds) as failing, count(*) as seen,
             max(k.last_seen) filter (where not c.holds) as last_seen, bool_or(c.holds) as some,
             bool_and(c.holds) as every
        from class k
       cross join lateral taskqueue.condition(v_definition, k.offer) c
       where k.offer is distinct from null
       group by c.condition
    )
    select v.condition, w.wanted, v.failing, v.seen, v.last_seen,
           case when not v.some
                then format('no resource seen lately offers %s: %s', v.condition, w.wanted)
                when not v.every
                then format('%s of %s kinds of resources do not fulfil it', v.failing, v.seen)
           end
      from verdict v
      join wanted w on w.condition = v.condition
    union all
    select 'all of them',
           'job ' || p_job_id || ', ' || taskqueue.state_of_job(p_setup, p_job_id),
           count(*) filter (where not a.holds), count(*), max(a.last_seen) filter (where a.holds),
           case when count(*) = 0 then 'no resource was seen lately'
                when not bool_or(a.holds) then 'no resource seen lately fulfils all conditions'
                else format('%s of %s kinds of resources match', count(*) filter (where a.holds), count(*)) end
           || case when pg_is_in_recovery() then '; this is a standby: the newest ones are known on the primary alone'
                   else '' end
      from (select k.last_seen, coalesce(taskqueue.accepts(v_definition, k.offer), true) as holds  -- no condition fails
              from class k where k.offer is distinct from null) a
    order by 3 desc, 1;
end $$;

comment on function taskqueue.explain_job(text, bigint, int) is
  'Explains why a job waits. A row per condition says how many of the kinds of resources seen lately fail it, and when '
  'such a resource was last seen. The row "all of them" counts the kinds that fail any condition, and has the time '
  'when a matching kind was last seen; on a standby its remark says that newer resources are known on the primary '
  'alone. p_kinds: the number of kinds, the last seen ones; null means all. Errors: PB001 (p_kinds), PB002 (setup or '
  'owner not granted), PB004 (no such job).';
