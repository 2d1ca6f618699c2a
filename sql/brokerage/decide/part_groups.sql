-- RETRIES.md, Jobs of tasks. As in JEDI, jobs of one decision need the same memory, so a run brokers one group of a
-- task's parts. Groups take turns. A group that found no queue waits until the retry time of its last decision. After
-- this wait, the queues at which the group failed are allowed again.
create or replace function brokerage.part_groups(p_setup text, p_task_ids bigint[], p_algorithm text)
returns table (task_id bigint, changes text, memory_factor float8, time_factor float8, failed_queues text[],
               parts bigint, retry_at timestamptz, place bigint)
language sql stable as $$
  with changed as materialized (
    select p.task_id, c.changes, max(p.memory_factor)::float8 as memory_factor,
           max(p.time_factor)::float8 as time_factor, max(p.failed_queues) as failed_queues, count(*) as parts
      from workload.failed_part p
     cross join lateral (select workload.changes_of_part(p)) c (changes)
     where p.setup = p_setup and p.task_id = any (p_task_ids) and c.changes is not null
       and p_algorithm <> 'production_task'
       and not exists (select from workload.job j
                        where j.setup = p_setup and j.task_id = p.task_id and j.number = p.number and j.rebrokered = 0)
     group by p.task_id, c.changes
  ), grouped as (
    select * from changed
     union all
    select a.task_id, null, 1, 1, null, a.parts
      from (select c.task_id,
                   (select i.jobs from workload.input_digest i where i.setup = p_setup and i.task_id = c.task_id)
                   - coalesce((select s.assigned_jobs from brokerage.task_state s
                                where s.setup = p_setup and s.task_id = c.task_id and s.algorithm = p_algorithm), 0)
                   - sum(c.parts)::bigint as parts
              from changed c
             group by c.task_id) a
     where a.parts > 0
  )
  select g.task_id, g.changes, g.memory_factor, g.time_factor,
         case when (d.status = 'pending' and coalesce(d.retry_at, d.decided_at) <= n.now) is not true
              then g.failed_queues end,
         g.parts, w.until,
         row_number() over (partition by g.task_id
                            order by w.until nulls first,
                                     coalesce(g.changes, '') <= coalesce(l.changes, '') collate "C",
                                     coalesce(g.changes, '') collate "C")
    from grouped g
   cross join (select resource.clock(p_setup) offset 0) n (now)
    left join lateral (
           select d.changes from brokerage.task_decision d join brokerage.run r using (setup, run_id)
            where d.setup = p_setup and d.task_id = g.task_id and r.algorithm = p_algorithm and not r.dry
            order by d.run_id desc limit 1) l on true
    left join lateral (
           select d.status, d.retry_at, d.decided_at
             from brokerage.task_decision d join brokerage.run r using (setup, run_id)
            where d.setup = p_setup and d.task_id = g.task_id and d.changes is not distinct from g.changes
              and r.algorithm = p_algorithm and not r.dry
            order by d.run_id desc limit 1) d on true
   cross join lateral (select case when d.status <> 'candidates' and d.retry_at > n.now then d.retry_at end) w (until)
$$;

comment on function brokerage.part_groups(text, bigint[], text) is
  'Groups of equal changes (workload.changes_of_part; null = none) among the open parts of tasks, if retry rules '
  'changed any open part: factors, queues that the group avoids, number of parts, the time until which the group '
  'waits, and its place. The next decision is about the group at place 1. Other tasks have no row.';
