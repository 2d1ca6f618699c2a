-- This step follows the decisions of a run. It makes the jobs that candidates got, which the statistics then count, or
-- adds them to the live counter. It also notes the retry time of each task. Tasks that were refused or could not be
-- evaluated wait like tasks without a candidate. If retry rules changed some parts of a task, the task is due again at
-- once for its next group of parts (brokerage.part_groups). A task that the caps of its user throttle keeps the time of
-- the last decision that found too many jobs, while it waits for its release (analysis-throttles.md, user-release).
-- A task without a queue is frozen until a run assigns a job (facts-and-formulas.md, frozen); its row is locked. A task
-- of analysis keeps the queues that it has used (distribution.md, used-sites-first).
create or replace function brokerage.assign_jobs(
  p_run brokerage.run, p_rules brokerage.profile_rule[], p_task_ids bigint[]
) returns void
language plpgsql as $$
begin
  if p_run.algorithm <> 'production_task'
     and (select s.makes_jobs from brokerage.setting_in_force s where s.setup = p_run.setup) then
    perform workload.make_jobs(p_run.setup, array_agg(a.task_id order by a.task_id, a.queue),
                               array_agg(a.queue order by a.task_id, a.queue),
                               array_agg(a.jobs order by a.task_id, a.queue), format('run %s', p_run.run_id),
                               brokerage.base_profile(p_run.profile) <> 'documented',
                               array_agg(d.changes order by a.task_id, a.queue))
       from brokerage.assignment a
       join brokerage.task_decision d using (setup, run_id, task_id)
      where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids);
  else
    if p_run.algorithm <> 'production_task' then
      perform workload.fix_cutting(p_run.setup,
                                   array(select distinct a.task_id from brokerage.assignment a
                                          where a.setup = p_run.setup and a.run_id = p_run.run_id
                                            and a.task_id = any (p_task_ids)),
                                   brokerage.base_profile(p_run.profile) <> 'documented');
    end if;
    insert into brokerage.live_counter (setup, queue, jobs, counted_at)
    select p_run.setup, q.unified_name, sum(a.jobs), p_run.started_at
      from brokerage.assignment a
      join resource.candidate_queue q on q.setup = a.setup and q.queue = a.queue
     where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
     group by q.unified_name;
  end if;
  update workload.task t
     set frozen = case d.status when 'pending' then p_run.started_at end
    from brokerage.task_decision d
   where p_run.algorithm <> 'production_task'
     and d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (p_task_ids)
     and t.setup = d.setup and t.task_id = d.task_id
     and case d.status when 'pending' then t.frozen is null
                       else t.frozen is not null
                            and exists (select from brokerage.assignment a
                                         where a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id) end;
  update workload.task t
     set sites_used = coalesce(t.sites_used, '{}') || n.queues
    from (select u.task_id, array_agg(u.queue order by u.queue) as queues
            from (select distinct a.task_id, q.unified_name as queue
                    from brokerage.assignment a
                    join resource.candidate_queue q on q.setup = a.setup and q.queue = a.queue
                    join workload.task o on o.setup = a.setup and o.task_id = a.task_id
                   where p_run.algorithm = 'analysis_job'
                     and a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
                     and (q.unified_name = any (o.sites_used)) is not true) u
           group by u.task_id) n
   where t.setup = p_run.setup and t.task_id = n.task_id;
  with other as materialized (
    select d.task_id, bool_or(g.retry_at is null and g.changes is distinct from d.changes) as is_due,
           bool_or(g.changes is not distinct from d.changes
                   and (d.changes is not null
                        or g.parts > (select coalesce(sum(a.jobs), 0) from brokerage.assignment a
                                       where a.setup = p_run.setup and a.run_id = p_run.run_id
                                         and a.task_id = d.task_id))) as is_left,
           min(g.retry_at) filter (where g.changes is distinct from d.changes) as retry_at
      from brokerage.part_groups(p_run.setup, p_task_ids, p_run.algorithm) g
      join brokerage.task_decision d on d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = g.task_id
     group by d.task_id
  )
  insert into brokerage.task_state as s (setup, task_id, algorithm, run_id, retry_at, assigned_jobs, throttled_at)
  select p_run.setup, d.task_id, p_run.algorithm, d.run_id,
         case when g.is_due or d.status = 'candidates' and g.is_left then null
              when d.status <> 'candidates' and d.retry_at is null
              then least(d.decided_at + brokerage.wait_of(w.parameters, t.current_priority), g.retry_at)
              else least(d.retry_at, g.retry_at) end,
         coalesce((select sum(a.jobs) from brokerage.assignment a
                    where a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id), 0),
         case when d.status = 'throttled' and d.rule in ('user-cap', 'user-throttle') then d.decided_at
              when d.status = 'throttled' and d.rule = 'user-release' then o.throttled_at end
    from brokerage.task_decision d
    join workload.task t on t.setup = d.setup and t.task_id = d.task_id
    left join brokerage.task_state o on o.setup = d.setup and o.task_id = d.task_id and o.algorithm = p_run.algorithm
    left join other g on g.task_id = d.task_id
    left join unnest(p_rules) w on w.algorithm = p_run.algorithm and w.kind = 'pending' and w.enabled
                                      and (w.profile = p_run.profile) = (d.arm is distinct from 'trial')
   where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (p_task_ids)
   order by d.task_id
  on conflict (setup, task_id, algorithm) do update
     set run_id = excluded.run_id, retry_at = excluded.retry_at,
         assigned_jobs = s.assigned_jobs + excluded.assigned_jobs, throttled_at = excluded.throttled_at;
end $$;

comment on function brokerage.assign_jobs(brokerage.run, brokerage.profile_rule[], bigint[]) is
  'Makes or counts the jobs that candidates got from decided tasks, and notes when pending tasks are due again.';
