-- RETRIES.md. The rows of the leases are deleted already. A job of a task keeps its part until lifecycle.give_back.
-- taskqueue.change_due makes the new requirements: here, agents whose jobs fail by one rule would wait for each other
-- at a new definition.
create or replace function taskqueue.try_again(p_setup text, p_ends taskqueue.lease_event[]) returns void
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_leases taskqueue.lease[];
begin
  perform workload.set_retry(p_setup, array_agg((k.lease).job_id), array_agg((k.verdict).retry_at))
     from unnest(p_ends) k
    where (k.verdict).retry_at is not null and (k.lease).brokered
   having count(*) > 0;
  perform workload.change_parts(p_setup, array_agg((k.lease).job_id), array_agg((k.verdict).memory_factor),
                                array_agg((k.verdict).time_factor), array_agg((k.verdict).elsewhere),
                                array_agg((k.verdict).less_input))
     from unnest(p_ends) k
    where (k.verdict).retry_at is not null and (k.lease).brokered
   having count(*) > 0;
  v_leases := array(select k.lease from unnest(p_ends) k
                     where (k.verdict).retry_at is not null and not (k.lease).brokered);
  if v_leases = '{}' then
    return;
  end if;
  perform taskqueue.place_leased(p_setup, v_leases);
  with decided as (
    select c.*, v.*, c.retry_at > v_now or v.has_change as is_held
      from (select k.lease, (k.facts).ram_used, (k.facts).host, (k.verdict).* from unnest(p_ends) k) c
     cross join lateral (
            select s.site, num_nonnulls(c.memory_factor, c.time_factor, s.site) > 0 as has_change,
                   case when c.elsewhere = 'host' then taskqueue.host_at(c.host, (c.lease).site) end as avoid
              from (select case when c.elsewhere = 'site' then (c.lease).site end as site) s) v
     where c.retry_at is not null
  ), again as (
    update taskqueue.job j
       set attempts = l.attempt, losses = l.losses, failures = least(l.failures + 1, 32767), last_token = l.token,
           avoid = coalesce(d.avoid, l.avoid),
           avoid_until = case when d.avoid is null then l.avoid_until
                              else d.retry_at + (select s.avoid_time from taskqueue.setting s
                                                  where s.setup = p_setup) end,
           held = d.is_held, not_before = case when d.is_held then d.retry_at end,
           entry_id = case when d.is_held then nextval('taskqueue.entry_id') else j.entry_id end
      from decided d
     cross join lateral (select (d.lease).*) l
      join taskqueue.job o on o.setup = p_setup and o.job_id = l.job_id
     where j.setup = p_setup and j.job_id = o.job_id
    returning j.job_id, j.task_queue_id, j.user_priority, j.held, j.entry_id, o.entry_id as old_entry_id
  ), noted as (
    insert into taskqueue.pending_change (setup, job_id, entry_id, retry_rule, memory_factor, time_factor, site,
                                          ram_used)
    select p_setup, a.job_id, a.entry_id, d.retry_rule, d.memory_factor, d.time_factor, d.site, d.ram_used
      from again a join decided d on (d.lease).job_id = a.job_id
     where d.has_change
  )
  insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, entry_id)
  select p_setup, a.task_queue_id, a.user_priority, -1, a.old_entry_id from again a where a.held;
end $$;

comment on function taskqueue.try_again(text, taskqueue.lease_event[]) is
  'Carries out the verdicts of retry rules on failed ends. Jobs of TaskQueues wait again; they are held during a delay '
  'and until a change of their requirements, which is noted. Jobs of tasks get the time when their part goes back, and '
  'the parts get the changes.';
