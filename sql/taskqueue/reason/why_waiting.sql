-- The text is for the person whose job waits; taskqueue.explain_job shows every condition.
create or replace function taskqueue.why_waiting(p_found taskqueue.found_reason, p_job taskqueue.job) returns text
language sql stable as $$
  select case w.reason
         when 'misconfigured' then 'it bans each of the sites that it lists'
         when 'too_large' then 'no kind of resource is large enough; of the nearest one fail '
           || coalesce(taskqueue.failing_sizes(p_found), 'conditions that hold by now')
         when 'held' then
           case when (p_job).held then taskqueue.why_held(p_job)
                when exists (select from taskqueue.held_owner h
                              where h.setup = (p_found).setup and h.owner_dn = (p_found).owner_dn)
                then 'its owner is held'
                else 'its TaskQueue is held or disabled' end
         when 'unknown' then 'not found out yet: `broker summarize` finds it out'
         when 'limited' then 'every resource that fits is at a limit of its site'
         when 'no_resource_seen' then
           coalesce('no resource that fits asked lately; the last one asked at ' || t.seen_at,
                    'no resource that fits has asked')
         when 'overtaken' then 'a resource that fits took a job of other requirements at '
           || to_char((p_found).overtaken_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"')
         else 'a resource that fits asked at ' || t.seen_at end
    from (select taskqueue.reason_of(p_found, (p_job).held, (p_job).inserted_at) as reason) w
   cross join lateral (
     select to_char(((p_found).kind).last_seen at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"') as seen_at) t
$$;

comment on function taskqueue.why_waiting(taskqueue.found_reason, taskqueue.job) is
  'Why a job waits, as a sentence with figures that explains the word of taskqueue.reason_of.';
