-- STATES.md, From task to TaskQueue. Each table is read by its key in a lateral query, and computed rows are joined by
-- hashing (sql/README.md, Planner settings).
create or replace function lifecycle.lacking_input(p_setup text, p_task_ids bigint[], p_queues text[])
returns table (task_id bigint, queue text, dataset text, is_main boolean, files_per_job bigint,
               files bigint, there int8multirange)
language sql stable rows 10000 set jit = off set enable_nestloop = off set enable_sort = off set work_mem = '64MB'
set plan_cache_mode = force_custom_plan as $$
  with pair as materialized (
    select p.task_id, p.queue from unnest(p_task_ids, p_queues) p (task_id, queue)
  ), task as materialized (
    select t.*
      from (select distinct p.task_id from pair p) p
     cross join lateral (
       select k.task_id, workload.files_per_job(k) as files_per_job,
              coalesce(k.label in ('user', 'panda'), false) as for_analysis, k.allow_input_wan > 0 as may_read_wan
         from workload.task k
        where k.setup = p_setup and k.task_id = p.task_id
       offset 0) t
  ), input as materialized (
    select t.task_id, d.dataset, d.is_main
      from task t
     cross join lateral (
       select k.dataset, k.position = min(k.position) over () as is_main
         from workload.task_dataset k
        where k.setup = p_setup and k.task_id = t.task_id and k.direction = 'input'
       offset 0) d
  ), dataset as materialized (
    select s.dataset, n.files
      from (select distinct i.dataset from input i) i
     cross join lateral (
       select k.dataset
         from workload.dataset k
        where k.setup = p_setup and k.dataset = i.dataset and not workload.is_pseudo(k)
       offset 0) s
     cross join lateral (
       select count(*) as files from workload.dataset_file f where f.setup = p_setup and f.dataset = s.dataset) n
  ), place as materialized (  -- storages from which the analysis jobs of a queue read, and those for all other jobs
    select distinct s.queue, x.for_analysis, s.storage
      from resource.storage_of_queue s
     cross join (values (true), (false)) x(for_analysis)
      left join resource.storage_for_analysis a on a.setup = s.setup and a.queue = s.queue and a.direction = s.direction
                                               and a.scope = s.scope and a.position = s.position
     where s.setup = p_setup and s.direction = 'read_lan' and not s.is_tape and s.queue in (select p.queue from pair p)
       and case when x.for_analysis then a.storage is not null else s.scope = 'default' end
  ), replica as materialized (
    select d.dataset, d.files, r.k, (r.k).storage
      from dataset d
     cross join lateral (
       select k from workload.replica k where k.setup = p_setup and k.dataset = d.dataset offset 0) r
  ), readable as materialized (
    select r.dataset, r.storage, f.is_complete,
           case when f.is_complete then null
                when (r.k).lfns is null
                then (select int8multirange(int8range(1, count(*) + 1))
                        from workload.dataset_file e
                       where e.setup = p_setup and e.dataset = r.dataset and e.position <= f.found)
                else (select range_agg(int8range(e.rank, e.rank + 1))
                        from (select k.lfn, row_number() over (order by k.position) as rank
                                from workload.dataset_file k
                               where k.setup = p_setup and k.dataset = r.dataset) e
                       where e.lfn in (select n.lfn from unnest((r.k).lfns) n(lfn) where n.lfn is not null))
           end as there
      from replica r
     cross join lateral workload.replica_figures(r.k, r.files) f
     where r.storage in (select l.storage from place l)
  ), copy as materialized (
    select r.dataset, l.queue, l.for_analysis, bool_or(r.is_complete) as is_complete, range_agg(r.there) as there
      from readable r
      join place l on l.storage = r.storage
     group by r.dataset, l.queue, l.for_analysis
  )
  select p.task_id, p.queue, d.dataset, i.is_main, t.files_per_job, d.files, coalesce(c.there, '{}')
    from pair p
    join task t on t.task_id = p.task_id
    join resource.queue q on q.setup = p_setup and q.queue = p.queue
    join input i on i.task_id = p.task_id
    join dataset d on d.dataset = i.dataset
    left join copy c on c.dataset = i.dataset and c.queue = p.queue and c.for_analysis = t.for_analysis
   where (t.may_read_wan and q.direct_access_wan) is not true and c.is_complete is not true
$$;

comment on function lifecycle.lacking_input(text, bigint[], text[]) is
  'Input datasets without a complete copy at any storage from which the jobs of a task read at a queue, for pairs of '
  'task and queue (parallel arrays). there: the positions, from 1, of the files that any copy has. files_per_job: as '
  'workload.files_per_job. is_main: whether it is the primary dataset.';
