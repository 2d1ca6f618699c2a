-- LEASES.md, Ended jobs: ends leases that the caller has locked; the same commit puts the jobs into taskqueue.ended,
-- or back into TaskQueues (RETRIES.md).
-- This is the only place where a leased job ends.
create or replace function taskqueue.end_leases(
  p_setup text, p_ends taskqueue.lease_event[], p_sub_status text default null, p_skip_refused boolean default false
) returns bigint[]
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_ends taskqueue.lease_event[] := p_ends;
  v_facts record;
  v_moved bigint[];
begin
  if p_ends = '{}' then
    return '{}'::bigint[];
  end if;
  select array_agg(l.job_id) as job_ids, array_agg(l.job_id) filter (where l.brokered) as brokered,
         array_agg(k.event) filter (where l.brokered) as outcomes,
         array_agg(coalesce(k.why, case when k.event = 'cancelled' then l.kill_reason end, 'finish_job'))
           filter (where l.brokered) as whys,
         bool_or(k.event = 'failed') as have_failed,
         bool_or(l.request_id is not null and l.matched_at > v_now - interval '10 minutes') as is_repeatable
    into v_facts
    from unnest(p_ends) k
   cross join lateral (select (k.lease).*) l;
  if v_facts.brokered <> '{}' then
    v_moved := workload.move_jobs(p_setup, v_facts.brokered, v_facts.outcomes, v_facts.whys, p_sub_status,
                                  p_skip_refused);
    if cardinality(v_moved) < cardinality(v_facts.brokered) then
      v_ends := array(select k from unnest(p_ends) k
                       where not (k.lease).brokered or (k.lease).job_id = any (v_moved));
      v_facts.job_ids := array(select (k.lease).job_id from unnest(v_ends) k);
    end if;
  end if;
  if v_facts.have_failed then
    v_ends := taskqueue.judge_ends(p_setup, v_ends);
  end if;
  if v_facts.is_repeatable then
    perform taskqueue.keep_leased_answers(array(select k.lease from unnest(v_ends) k));
  end if;
  delete from taskqueue.lease l where l.setup = p_setup and l.job_id = any (v_facts.job_ids);
  insert into taskqueue.ended (setup, job_id, attempts, token, user_priority, brokered, task_queue_id, definition_id,
                               outcome, site, ended_at)
  select p_setup, l.job_id, l.attempt, l.token, l.user_priority, l.brokered, l.task_queue_id, l.definition_id, k.event,
         l.site, v_now
    from unnest(v_ends) k
   cross join lateral (select (k.lease).*) l
   where (k.verdict).retry_at is null or l.brokered;
  if v_facts.have_failed then
    perform taskqueue.try_again(p_setup, v_ends);
  end if;
  perform taskqueue.free_slots(p_setup, v_facts.job_ids);
  perform taskqueue.note_events(v_ends, true);
  return v_facts.job_ids;
end $$;

comment on function taskqueue.end_leases(text, taskqueue.lease_event[], text, boolean) is
  'Ends leased jobs, each with its outcome, frees their limit slots, and returns these jobs. A brokered job gets the '
  'matching status; the reason in its history is the field why, else the reason of the kill, else finish_job. A retry '
  'rule may let a failed job wait again. With p_skip_refused, a lease stays if the status of its job does not allow '
  'the end. Errors otherwise: PB005.';
