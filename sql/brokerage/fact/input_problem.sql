-- The view shows input that no task can use (production-candidates.md, input-completeness): each dataset that is
-- neither distributed nor staged while the task runs must be complete, or nearly complete, at some readable storage.
create or replace view brokerage.input_problem as
select i.setup, i.task_id, format('dataset %s is complete at no readable storage', min(i.dataset)) as problem
  from workload.task_dataset i
  join workload.task t on t.setup = i.setup and t.task_id = i.task_id
  join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
 where i.direction = 'input' and not coalesce(d.distributed, false) and not coalesce(t.input_pre_staging, false)
   and not workload.is_pseudo(d)
   and not exists (select from brokerage.input_source r
                    where r.setup = i.setup and r.dataset = i.dataset and (r.can_read_lan or r.can_read_wan))
 group by i.setup, i.task_id;

comment on view brokerage.input_problem is
  'Tasks with an input dataset that is complete at no readable storage (input-completeness, panda2026 only).';
comment on column brokerage.input_problem.problem is 'Text that names the dataset.';
