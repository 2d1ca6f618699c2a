-- Input that no nucleus can get (task-brokerage.md, task-input-scan): a dataset without a complete copy at a storage
-- that can be read over WAN.
create or replace view brokerage.scan_problem as
select i.setup, i.task_id,
       format('no storage that can be read over WAN has all of dataset %s', min(i.dataset)) as problem
  from workload.task_dataset i
  join workload.task t on t.setup = i.setup and t.task_id = i.task_id
  join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
 where i.direction = 'input' and not workload.is_pseudo(d) and brokerage.is_scanned(i.dataset)
   and (i.position = 1 or not coalesce(t.task_broker_on_master, false))
   and not exists (select from workload.replica_state r
                     left join resource.storage s on s.setup = r.setup and s.storage = r.storage
                    where r.setup = i.setup and r.dataset = i.dataset and r.is_complete and r.total > 0
                      and not coalesce(r.vp, false) and coalesce(s.read_wan, '') not in ('OFF', 'TEST'))
 group by i.setup, i.task_id;

comment on view brokerage.scan_problem is
  'Tasks with an input dataset that is complete at no storage that can be read over WAN (task-input-scan, panda2026 '
  'only).';
comment on column brokerage.scan_problem.problem is 'Which dataset.';
