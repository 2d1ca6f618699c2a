-- Input that nobody can use (brokerage-rules 1.2, input-completeness): of each dataset that is neither distributed nor staged while the task
-- runs, some readable endpoint must hold all, or all but MAX_MISSING_INPUT_FILES, or MIN_INPUT_COMPLETENESS percent of the files.
create or replace view brokerage.input_problem as
select i.setup, i.task_id, format('dataset %s is complete at no readable storage', min(i.dataset)) as problem
  from workload.task_dataset i
  join workload.task t on t.setup = i.setup and t.task_id = i.task_id
  join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
 where i.direction = 'input' and not coalesce(d.distributed, false) and not coalesce(t.input_pre_staging, false) and not workload.is_pseudo(d)
   and not exists (
         select from workload.replica_state r
           left join resource.storage s on s.setup = r.setup and s.storage = r.storage
          where r.setup = i.setup and r.dataset = i.dataset
            and (r.is_complete
                 or r.found > 0 and r.total > 0
                    and (r.total - r.found <= coalesce((resource.config_value(i.setup, 'jedi', 'jobbroker', 'MAX_MISSING_INPUT_FILES') #>> '{}')::float8, 10)
                         or r.found * 100 >= r.total * coalesce((resource.config_value(i.setup, 'jedi', 'jobbroker', 'MIN_INPUT_COMPLETENESS') #>> '{}')::float8, 90)))
            and (coalesce(s.read_lan, '') not in ('OFF', 'TEST') or coalesce(s.read_wan, '') not in ('OFF', 'TEST')))
 group by i.setup, i.task_id;

comment on view brokerage.input_problem is 'Tasks of which an input dataset is complete nowhere that it can be read from (input-completeness, panda2026 only).';
comment on column brokerage.input_problem.setup is 'Tenant.';
comment on column brokerage.input_problem.task_id is 'Task.';
comment on column brokerage.input_problem.problem is 'Which dataset.';
