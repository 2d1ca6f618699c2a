-- MATCHING.md, Explanations: for each condition, the number of kinds of resources seen lately that fail it. A kind that
-- was parsed for taskqueue.find_reasons is not parsed again, unless limits are set at its site, since limits change
-- with each match. The kinds are those of taskqueue.resource_kind, but only the kinds seen last are read: kinds that
-- were rolled up, and kinds seen since then, with their rolled-up part. Long because each row has a query of its own.
create or replace function taskqueue.explain_job(p_setup text, p_job_id bigint, p_kinds int default null)
returns table (condition text, wanted text, failing bigint, seen bigint, last_seen timestamptz, remark text)
language plpgsql stable security definer set search_path = taskqueue, pg_temp set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
  v_identity resource.identity := resource.identify_viewer(p_setup);
  v_definition taskqueue.definition;
  v_quarantined boolean := exists (select from taskqueue.quarantine q
                                    where q.setup = p_setup and q.kind <> 'host' and q.locks);
begin
  if p_kinds < 1 then
    raise exception 'p_kinds is %, which is less than 1', p_kinds
      using errcode = 'PB001', hint = 'Give 1 or more, or omit p_kinds.';
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
    ), refused as materialized (  -- kinds have no host
      select k.class, k.last_seen, q.name, taskqueue.shown_quarantine(q) as shown
        from class k
       cross join lateral taskqueue.quarantine_of(p_setup, k.offer, null) q
       where v_quarantined and k.offer is distinct from null
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
           case when not v.some and v.condition = 'Clauses'
                then 'no resource seen lately meets ' || coalesce(
                       taskqueue.clauses_never_met(v_definition, array(select k.offer from class k
                                                                        where k.offer is distinct from null)),
                       'all of these clauses')
                when not v.some
                then format('no resource seen lately offers %s: %s', v.condition, w.wanted)
                when not v.every
                then format('%s of %s kinds of resources do not fulfil it', v.failing, v.seen)
           end
      from verdict v
      join wanted w on w.condition = v.condition
    union all
    select 'all of them',
           'job ' || p_job_id || ', ' || taskqueue.state_of_job(p_setup, p_job_id)
           || coalesce((select ': ' || taskqueue.why_held(j) from taskqueue.job j
                         where j.setup = p_setup and j.job_id = p_job_id), ''),
           count(*) filter (where not a.holds), count(*), max(a.last_seen) filter (where a.holds),
           case when count(*) = 0 then 'no resource was seen lately'
                when not bool_or(a.holds) then 'no resource seen lately fulfils all conditions'
                else format('%s of %s kinds of resources match', count(*) filter (where a.holds), count(*)) end
           || case when pg_is_in_recovery() then '; this is a standby: the newest ones are known on the primary alone'
                   else '' end
      from (select k.last_seen, coalesce(taskqueue.accepts(v_definition, k.offer), true)  -- no condition fails
                   and k.class not in (select r.class from refused r) as holds
              from class k where k.offer is distinct from null) a
    union all
    select 'Quarantine', 'none', count(distinct r.class),
           (select count(*) from class k where k.offer is distinct from null), max(r.last_seen), min(r.shown)
           || case when count(distinct r.name) > 1 then format('; and %s more', count(distinct r.name) - 1) else '' end
      from refused r
    having count(*) > 0
    union all
    select 'Avoid', 'another host than ' || a.avoid, 0, 0, null, 'kinds of resources have no host'
      from (select taskqueue.shown_avoid(j) as avoid from taskqueue.job j
             where j.setup = p_setup and j.job_id = p_job_id) a
     where a.avoid is not null
    order by 3 desc, 1;
end $$;

comment on function taskqueue.explain_job(text, bigint, int) is
  'Explains why a job waits. A row per condition says how many of the kinds of resources seen lately fail it, and when '
  'such a resource was last seen. The row "all of them" counts the kinds that fail any condition, and has the time '
  'when a matching kind was last seen; on a standby its remark says that newer resources are known on the primary '
  'alone. A row "Avoid" names the host that the job avoids, a row "Quarantine" the quarantine of a site or CE that '
  'refuses some of the kinds. p_kinds: the number of kinds, the last seen ones; '
  'null means all. Errors: PB001 (p_kinds), PB002 (setup or owner not granted), PB004 (no such job).';
