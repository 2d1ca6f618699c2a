-- STATES.md, From task to TaskQueue. An assigned job is ready when every file that it reads is on disk at a storage
-- that worker nodes of the queue read from (for analysis one of the scope analysis, if the queue has some), or may be
-- read from anywhere (allow_input_wan).
create or replace function lifecycle.ready_jobs(p_setup text, p_limit int) returns table (job_id bigint)
language sql stable rows 1000 as $$
  with waiting as materialized (
    select c.task_id from workload.job_by_task c
     where c.setup = p_setup and c.status in ('defined', 'assigned')
     group by c.task_id
    having sum(c.jobs) > 0
  ), pair as materialized (
    select distinct j.task_id, j.queue
      from waiting w
      join workload.job j on j.setup = p_setup and j.task_id = w.task_id and j.activated is null and j.ended is null
     where j.status in ('defined', 'assigned') and j.queue is not null
  ), place as materialized (  -- storages that jobs of a queue read from, for analysis and for all others
    select s.queue, x.for_analysis, s.storage
      from resource.storage_of_queue s
     cross join (values (true), (false)) x(for_analysis)
      left join resource.storage_for_analysis a on a.setup = s.setup and a.queue = s.queue and a.direction = s.direction
                                               and a.scope = s.scope and a.position = s.position
     where s.setup = p_setup and s.direction = 'read_lan' and not s.is_tape and s.queue in (select p.queue from pair p)
       and case when x.for_analysis then a.storage is not null else s.scope = 'default' end
  ), input as materialized (
    select p.task_id, p.queue, d.dataset, coalesce(t.label in ('user', 'panda'), false) as for_analysis
      from pair p
      join workload.task t on t.setup = p_setup and t.task_id = p.task_id
      join resource.queue q on q.setup = p_setup and q.queue = p.queue
      join workload.task_dataset d on d.setup = p_setup and d.task_id = p.task_id and d.direction = 'input'
      join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
     where not workload.is_pseudo(s) and (t.allow_input_wan > 0 and q.direct_access_wan) is not true
  ), copy as materialized (
    select r.dataset, l.queue, l.for_analysis, r.is_complete, r.found, r.lfns
      from workload.replica_state r
      join place l on l.storage = r.storage
     where r.setup = p_setup and r.dataset in (select i.dataset from input i)
  ), lacking as materialized (
    select i.* from input i
     where (i.dataset, i.queue, i.for_analysis) not in (select c.dataset, c.queue, c.for_analysis from copy c
                                                         where c.is_complete)
  ), file as materialized (
    select f.task_id, f.number, f.dataset, f.lfn, f.place
      from workload.job_file(p_setup, array(select distinct l.task_id from lacking l)) f
  ), missing as materialized (  -- number 0: jobs that do not say what they read
    select l.task_id, l.queue, f.number
      from lacking l
      join file f on f.task_id = l.task_id and f.dataset = l.dataset
      left join copy c on c.dataset = l.dataset and c.queue = l.queue and c.for_analysis = l.for_analysis
     group by l.task_id, l.queue, f.number, f.lfn
    having bool_or(case when c.lfns is null then f.place <= c.found else f.lfn = any (c.lfns) end) is not true
    union
    select l.task_id, l.queue, 0 from lacking l
  )
  select j.job_id
    from pair p
    join workload.job j on j.setup = p_setup and j.task_id = p.task_id and j.queue = p.queue and j.activated is null
                       and j.ended is null
   where j.status in ('defined', 'assigned')
     and (j.task_id, j.queue, coalesce(j.number, 0)) not in (select m.task_id, m.queue, m.number from missing m)
   order by j.priority desc, j.job_id
   limit p_limit
$$;

comment on function lifecycle.ready_jobs(text, int) is
  'Defined and assigned jobs whose input is at their queue, highest priority first.';
