-- The answer is for the person who submitted the job: it has no role, no token, and no data of other owners.
create or replace function taskqueue.place_of_job(p_setup text, p_job_id bigint)
returns table (
  job_id bigint, state text, since timestamptz, site text, heard_at timestamptz, attempts int, user_priority int,
  owner_dn text, owner_group text, task_queue_id bigint, reason text, why text
)
language sql stable as $$
  select j.job_id, case when j.held then 'held' else 'waiting' end, j.inserted_at, null::text, null::timestamptz,
         j.attempts, j.user_priority::int, q.owner_dn, q.owner_group, j.task_queue_id,
         taskqueue.reason_of(q, j.held, j.inserted_at), taskqueue.why_waiting(q, j)
    from taskqueue.job j
    join taskqueue.found_reason q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id
  union all
  select l.job_id, 'leased', l.matched_at, l.site, coalesce(l.reported_at, l.matched_at), l.attempt,
         l.user_priority::int, d.owner_dn, d.owner_group, l.task_queue_id, null,
         case when l.kill_reason is not null then 'its agent is asked to stop: ' || l.kill_reason end
    from taskqueue.lease l
    left join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
   where l.setup = p_setup and l.job_id = p_job_id
  union all
  select e.job_id, e.outcome, e.ended_at, e.site, null, e.attempts, e.user_priority, o.owner_dn, o.owner_group,
         e.task_queue_id, null, null
    from taskqueue.ended e
    left join taskqueue.owner_of_job(p_setup, p_job_id) o on true
   where e.setup = p_setup and e.job_id = p_job_id
  union all
  select w.job_id, w.status, w.state_changed, null, null, 0, w.priority, w.user_name, w.gshare, null,
         case w.status when 'assigned' then 'input_missing' when 'throttled' then 'throttled'
                       when 'pending' then 'waiting' when 'defined' then 'waiting' end,
         case w.status when 'assigned' then 'its input is on its way to ' || w.queue end
    from workload.job w
   where w.setup = p_setup and w.job_id = p_job_id
     and not exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id)
     and not exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id)
     and not exists (select from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id)
$$;

comment on function taskqueue.place_of_job(text, bigint) is
  'The place of a job: waiting, held, leased, its outcome, or the status of a job of brokerage that is not yet in a '
  'TaskQueue.';
