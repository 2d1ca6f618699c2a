-- For a private submitter this reads the TaskQueues of its owner or group, and the highest ids of each by the key of
-- the jobs. Each user priority is one probe, written as a range, so that only the index job_order gives the order.
-- Leases are read by their key, as far as necessary. This is a function instead of a view, so that conditions of the
-- caller never see a row of another owner.
create or replace function taskqueue.own_jobs(
  p_setup text, p_after bigint default null, p_limit int default null, p_state text default null
) returns table (
  job_id bigint, state text, since timestamptz, site text, heard_at timestamptz, attempts int, user_priority int,
  owner_dn text, owner_group text, task_queue_id bigint, reason text, why text
)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  if p_limit < 0 then
    raise exception 'limit is %, which is below 0', p_limit
      using errcode = 'PB001', hint = 'Ask for some jobs, or give null for all.';
  end if;
  if p_state not in ('waiting', 'held', 'leased') then
    raise exception 'state is %, not waiting, held or leased', quote_literal(left(p_state, 100))
      using errcode = 'PB001', hint = 'Give null for jobs of all three states; taskqueue.own_job shows an ended one.';
  end if;
  return query
    with own as materialized (
      select q.task_queue_id
        from taskqueue.task_queue q
       where q.setup = p_setup
         and (v_identity.owner_group is null or q.owner_group = v_identity.owner_group)
         and (v_identity.owner_dn is null or q.owner_dn = v_identity.owner_dn)
    ), waiting as (
      select n.job_id
        from own o
       cross join unnest(case p_state when 'held' then array[true] when 'waiting' then array[false]
                                      else array[true, false] end) h(held)
       cross join generate_series(0, 10) u(user_priority)
       cross join lateral (
         select j.job_id from taskqueue.job j
          where j.setup = p_setup and j.task_queue_id = o.task_queue_id and j.held = h.held
            and (j.user_priority, j.job_id) < (u.user_priority, coalesce(p_after, 9223372036854775807))
            and j.user_priority >= u.user_priority
          order by j.user_priority desc, j.job_id desc limit p_limit) n
       where v_identity.private and coalesce(p_state, 'waiting') in ('waiting', 'held')
      union all
      (select j.job_id
         from taskqueue.job j
        where j.setup = p_setup and j.job_id < coalesce(p_after, 9223372036854775807) and not v_identity.private
          and coalesce(p_state = case when j.held then 'held' else 'waiting' end, true)
        order by j.job_id desc limit p_limit)
    ), leased as (
      select l.job_id
        from taskqueue.lease l
       cross join lateral (
         select d.owner_group, d.owner_dn from taskqueue.definition d
          where d.setup = l.setup and d.definition_id = l.definition_id offset 0) d
       where l.setup = p_setup and l.job_id < coalesce(p_after, 9223372036854775807)
         and coalesce(p_state, 'leased') = 'leased'
         and (v_identity.owner_group is null or d.owner_group = v_identity.owner_group)
         and (v_identity.owner_dn is null or d.owner_dn = v_identity.owner_dn)
       order by l.job_id desc limit p_limit
    ), page as materialized (
      select w.job_id from waiting w union select l.job_id from leased l order by 1 desc limit p_limit
    )
    select s.* from page p cross join lateral taskqueue.place_of_job(p_setup, p.job_id) s order by s.job_id desc;
end $$;

comment on function taskqueue.own_jobs(text, bigint, int, text) is
  'Waiting and leased jobs of the calling submitter, the highest ids first: those with ids below p_after, at most '
  'p_limit (null means all), in one state (waiting, held, leased). A generic identity gets the jobs of every owner. '
  'Errors: PB001 (limit, state), PB002 (setup not granted).';
