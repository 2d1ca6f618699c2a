-- Sections 5 and 6: one job for an offer. Buckets from the highest down, queues in drawn order, user priorities in drawn order, one of the
-- first ten. Empty and locked candidates are passed over; the others keep their keys, so the law holds over the rest.
-- A cursor, because a loop over a query fetches ten rows at once, and mostly the first one does (27 us of 360).
create or replace function taskqueue.take(p_setup text, p_offer taskqueue.offer, p_seed bigint)
returns table (job taskqueue.job, definition taskqueue.definition, slots jsonb)
language plpgsql
as $$
declare
  v_setting taskqueue.setting;
  v_cpu_time bigint;
  v_level record;
  v_left bigint;
  v_taken boolean;
  v_candidates cursor (c_cpu_time bigint) for
    select c.task_queue_id, c.definition from taskqueue.candidate(p_setup, p_offer, c_cpu_time, p_seed, v_setting.policy) c;
begin
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  for v_cpu_time in
    select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time <= p_offer.cpu_time order by b.cpu_time desc
  loop
    for v_candidate in v_candidates (v_cpu_time) loop
      definition := v_candidate.definition;
      slots := null;
      if p_offer.limited then
        select l.taken, l.slots into v_taken, slots from taskqueue.lock_slots(p_setup, definition.requirements, p_offer) l;
        continue when not v_taken;
      end if;
      v_left := 0;
      for v_level in
        select u.user_priority, u.jobs, u.changes, sum(u.jobs) over () as total, sum(u.changes) over () as unfolded
          from taskqueue.user_priority_order(p_setup, v_candidate.task_queue_id, p_seed + 1, v_setting.ten_first, v_setting.policy) u
      loop
        v_left := v_level.total;
        job := taskqueue.take_job(p_setup, v_candidate.task_queue_id, v_level.user_priority, p_seed + 2);
        if job.job_id is not null then
          insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
          values (p_setup, job.task_queue_id, job.user_priority, -1);
          if v_level.unfolded >= 50 then
            perform taskqueue.fold_counts(p_setup, job.task_queue_id);
          end if;
          if v_level.total <= 1 then
            perform taskqueue.drop_if_empty(p_setup, job.task_queue_id);
          end if;
          return next;
          return;
        end if;
      end loop;
      if v_left <= 0 then
        perform taskqueue.drop_if_empty(p_setup, v_candidate.task_queue_id);
      end if;
    end loop;
  end loop;
end $$;

comment on function taskqueue.take(text, taskqueue.offer, bigint) is
'Takes one job out of waiting for an offer, by the law of section 5 under the seed given; no row: nothing matches now. The caller writes the lease.';
