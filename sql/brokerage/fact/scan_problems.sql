-- No nucleus can get a dataset without a complete copy at a storage that can be read over WAN (task-brokerage.md,
-- task-input-scan). Tasks share datasets, so the copies of each dataset are read once.
create or replace function brokerage.scan_problems(p_setup text, p_task_ids bigint[])
returns table (task_id bigint, problem text)
language sql stable as $$
  with input as materialized (
    select i.task_id, i.dataset
      from workload.task_dataset i
      join workload.task t on t.setup = i.setup and t.task_id = i.task_id
      join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
     where i.setup = p_setup and i.task_id = any (p_task_ids) and i.direction = 'input' and not workload.is_pseudo(d)
       and brokerage.is_scanned(i.dataset) and (i.position = 1 or not coalesce(t.task_broker_on_master, false))
  ), closed as materialized (
    select i.dataset
      from (select distinct i.dataset from input i) i
     where not exists (select from workload.replica_state r
                         left join resource.storage s on s.setup = r.setup and s.storage = r.storage
                        where r.setup = p_setup and r.dataset = i.dataset and r.is_complete and r.total > 0
                          and not coalesce(r.vp, false) and coalesce(s.read_wan, '') not in ('OFF', 'TEST'))
  )
  select i.task_id, format('no storage that can be read over WAN has all of dataset %s', min(i.dataset))
    from input i
    join closed c on c.dataset = i.dataset
   group by i.task_id
$$;

comment on function brokerage.scan_problems(text, bigint[]) is
  'Tasks with an input dataset that is not complete at any storage that can be read over WAN (task-input-scan, '
  'panda2026 only), one row per task with the dataset.';
