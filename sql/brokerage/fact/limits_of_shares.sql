create or replace function brokerage.limits_of_shares(p_setup text, p_task_ids bigint[])
returns table (label text, gshare text, nqueuelimitsite float8, min_weight float8, disk_threshold float8)
language sql stable as $$
  with share as materialized (
    select s.label, s.gshare,
           resource.config_value(p_setup, 'jedi', 'jobbroker', 'NQUEUELIMITSITE_' || s.gshare) as nqueuelimitsite,
           coalesce(resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label || '_' || s.gshare),
                    resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label)) as min_weight,
           resource.config_value(p_setup, 'jedi', 'taskbrokerage', 'DISK_THRESHOLD_' || s.gshare) as disk_threshold,
           resource.config_value(p_setup, 'jedi', 'taskbrokerage', 'DISK_THRESHOLD') as disk_threshold_of_all
      from (select distinct t.label, t.gshare from workload.task t
             where t.setup = p_setup and t.task_id = any (p_task_ids)) s
  )
  select s.label, s.gshare, coalesce((s.nqueuelimitsite #>> '{}')::float8, 20),
         coalesce((s.min_weight #>> '{}')::float8, 0),
         coalesce((s.disk_threshold #>> '{}')::float8, (s.disk_threshold_of_all #>> '{}')::float8)
    from share s
$$;

comment on function brokerage.limits_of_shares(text, bigint[]) is
  'Limits that the configuration sets for the shares and labels of tasks; the other columns are those of '
  'brokerage.task_facts.';
