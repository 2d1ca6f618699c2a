-- STATES.md, From task to TaskQueue. An assigned job is ready when every file that it reads is on disk at a storage
-- from which worker nodes of the queue read (for analysis one of the scope analysis, if the queue has such a storage),
-- or may be read from anywhere (allow_input_wan). Indexes give the queues and the numbers of a task's jobs; the jobs of
-- a queue are read only if a job with one of these numbers may be ready there.
create or replace function lifecycle.ready_jobs(p_setup text, p_limit int) returns table (job_id bigint)
language sql stable rows 1000 set jit = off set enable_nestloop = off set enable_sort = off set work_mem = '64MB'
set plan_cache_mode = force_custom_plan as $$
  with waiting as materialized (
    select c.task_id from workload.job_by_task c
     where c.setup = p_setup and c.status in ('defined', 'assigned')
     group by c.task_id
    having sum(c.jobs) > 0
  ), pair as materialized (
    select w.task_id, j.queue
      from waiting w
     cross join lateral (
       select distinct k.queue
         from workload.job k
        where k.setup = p_setup and k.task_id = w.task_id and k.ended is null and k.queue is not null
       offset 0) j
  ), missing as materialized (
    select m.*
      from (select array_agg(p.task_id) as task_ids, array_agg(p.queue) as queues from pair p having count(*) > 0) p
     cross join lateral lifecycle.missing_input(p_setup, p.task_ids, p.queues) m
  ), span as materialized (
    select m.task_id, j.lowest, j.highest
      from (select distinct m.task_id from missing m) m
     cross join lateral (
       select coalesce(min(k.number), 0) as lowest, coalesce(max(k.number), 0) as highest
         from workload.job k
        where k.setup = p_setup and k.task_id = m.task_id) j
  ), open as materialized (
    select p.task_id, p.queue, m.numbers
      from pair p
      left join missing m on m.task_id = p.task_id and m.queue = p.queue
      left join span s on s.task_id = p.task_id
     where (m.numbers = int8multirange(int8range(0, upper(m.numbers))) and s.lowest >= 0
            and s.highest < upper(m.numbers)) is not true
  )
  select j.job_id
    from open o
   cross join lateral (
     select k.job_id, k.priority
       from workload.job k
      where k.setup = p_setup and k.task_id = o.task_id and k.queue = o.queue and k.activated is null
        and k.ended is null and k.status in ('defined', 'assigned')
        and (o.numbers @> coalesce(k.number, 0)) is not true
     offset 0) j
   order by j.priority desc, j.job_id
   limit p_limit
$$;

comment on function lifecycle.ready_jobs(text, int) is
  'Defined and assigned jobs whose input is at their queue, highest priority first.';
