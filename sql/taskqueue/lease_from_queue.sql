-- after: taskqueue.pick_job
-- Section 5, steps 3 and 4, and section 8, for the queue that was drawn: the user priority with the smallest key, one draw each; of its first ten jobs one;
-- and a match is a lease, from the same commit on. Two statements, because each of its own costs more than what it reads.
create or replace function taskqueue.lease_from_queue(p_setup text, p_task_queue_id bigint, p_definition_id bigint, p_sites text[], p_grid_ces text[],
                                                      p_ten_first boolean, p_policy text, p_lease_time interval, p_seed bigint, p_role_name text, p_now timestamptz, p_slots jsonb default null,
                                                      p_job_id bigint default null)
returns taskqueue.leased
language plpgsql
as $$
declare
  v_job taskqueue.job;
  v_job_id bigint;
  v_attempts int;
  v_user_priority int;
  v_jobs bigint;
  v_leased taskqueue.leased;
begin
  if p_job_id is null then
    delete from taskqueue.job j
     using (select f.jobs, k.job_id
              from taskqueue.pick_job(p_setup, p_task_queue_id, p_ten_first, p_policy, p_seed) f
             cross join lateral (
                   select l.job_id from taskqueue.job l
                    where l.setup = p_setup and l.job_id = f.job_id and l.task_queue_id = p_task_queue_id and l.user_priority = f.user_priority and not l.held
                      for update skip locked) k) p
     where j.setup = p_setup and j.job_id = p.job_id
    returning j.job_id, j.attempts, j.user_priority, p.jobs into v_job_id, v_attempts, v_user_priority, v_jobs;
  else
    delete from taskqueue.job j
     where j.setup = p_setup and j.job_id = (select l.job_id from taskqueue.job l
                                              where l.setup = p_setup and l.job_id = p_job_id and l.task_queue_id = p_task_queue_id and not l.held
                                                for update skip locked)
    returning j.job_id, j.attempts, j.user_priority, 0 into v_job_id, v_attempts, v_user_priority, v_jobs;
  end if;
  if v_job_id is null then
    if p_job_id is null then
      v_job := taskqueue.take_job(p_setup, p_task_queue_id, p_ten_first, p_policy, p_seed);
    end if;
    if v_job.job_id is null then
      perform taskqueue.drop_if_empty(p_setup, p_task_queue_id);
      return null;
    end if;
    select v_job.job_id, v_job.attempts, v_job.user_priority, 0 into v_job_id, v_attempts, v_user_priority, v_jobs;
  end if;
  with attempt as (
    select d.requirements, d.cpu_time, d.owner_group, d.owner_dn, v_attempts + 1 as number, gen_random_uuid() as token,
           case when cardinality(p_sites) = 1 then p_sites[1] else taskqueue.first_site(p_sites, d.sites, d.banned_sites) end as site,
           case when cardinality(p_grid_ces) = 1 then p_grid_ces[1] else taskqueue.first_site(p_grid_ces, d.grid_ces, '{}') end as grid_ce
      from taskqueue.definition d
     where d.setup = p_setup and d.definition_id = p_definition_id
  ), counted as (
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change) values (p_setup, p_task_queue_id, v_user_priority, -1)
  ), leased as (
    insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
    select p_setup, v_job_id, a.number, a.token, p_task_queue_id, p_definition_id, v_user_priority, a.site, a.grid_ce, p_role_name, p_now, p_now + p_lease_time
      from attempt a
  ), noted as (
    insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn,
                                   user_priority, site, grid_ce, role_name)
    select p_setup, p_now, v_job_id, a.number, 'matched', p_task_queue_id, p_definition_id, a.cpu_time, a.owner_group, a.owner_dn,
           v_user_priority, a.site, a.grid_ce, p_role_name
      from attempt a
  )
  select v_job_id, p_task_queue_id, a.requirements, v_user_priority, taskqueue.attempt_text(a.number, a.token) into v_leased
    from attempt a;
  if p_slots <> '[]' then
    perform taskqueue.use_slots(p_setup, v_job_id, p_slots);
  end if;
  if v_jobs <= 1 then
    perform taskqueue.drop_if_empty(p_setup, p_task_queue_id);
  elsif p_seed & 15 = 0 then
    perform taskqueue.fold_counts(p_setup, p_task_queue_id);
    perform taskqueue.post_pending(p_setup);
  end if;
  return v_leased;
end $$;

comment on function taskqueue.lease_from_queue(text, bigint, bigint, text[], text[], boolean, text, interval, bigint, text, timestamptz, jsonb, bigint) is
'Leases a job of a queue, or the one named; null when there is none that is not locked. The draws follow from the seed; p_slots: what taskqueue.lock_slots locked for it.';
