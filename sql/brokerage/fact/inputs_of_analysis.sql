-- The limits are those of the analysis broker (analysis-throttles.md, input-completeness).
create or replace function brokerage.inputs_of_analysis(p_setup text, p_task_ids bigint[], p_base_profile text)
returns table (task_id bigint, input_problem text, is_distributed boolean, wan_problem text)
language sql stable as $$
  with config as materialized (
    select l.* from jsonb_to_record(resource.configuration(p_setup) -> 'anal_jobbroker')
                    l("MAX_MISSING_INPUT_FILES" float8, "MIN_INPUT_COMPLETENESS" float8)
  ), input as materialized (
    select t.task_id, i.dataset, t.allow_incomplete_in_ds, d.distributed
      from workload.task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where t.setup = p_setup and t.task_id = any (p_task_ids) and not workload.is_pseudo(d)
  ), source as materialized (
    select r.dataset, bool_or(brokerage.is_usable(s.read_lan)) as can_read_lan,
           bool_or(brokerage.is_usable(s.read_wan)) as can_read_wan
      from workload.replica_state r
     cross join config c
      left join resource.storage s on s.setup = r.setup and s.storage = r.storage
     where p_base_profile <> 'documented' and r.setup = p_setup and r.dataset in (select i.dataset from input i)
       and (r.is_complete
            or r.found > 0 and r.total > 0 and (r.total - r.found <= c."MAX_MISSING_INPUT_FILES"
                                                or r.found * 100 >= r.total * c."MIN_INPUT_COMPLETENESS"))
     group by r.dataset
  ), data as materialized (
    select i.task_id, bool_or(i.distributed) as is_distributed,
           min(format('dataset %s is complete at no readable storage', i.dataset))
             filter (where not coalesce(i.allow_incomplete_in_ds, false) and not coalesce(i.distributed, false)
                     and (s.can_read_lan or s.can_read_wan) is not true) as input_problem,
           min(format('dataset %s can be read over WAN nowhere',
                      i.dataset)) filter (where s.can_read_wan is not true) as wan_problem
      from input i
      left join source s on s.dataset = i.dataset
     group by i.task_id
  )
  select t.task_id, case when p_base_profile <> 'documented' then d.input_problem end,
         coalesce(d.is_distributed, false), case when p_base_profile <> 'documented' then d.wan_problem end
    from workload.task t
    left join data d on d.task_id = t.task_id
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

comment on function brokerage.inputs_of_analysis(text, bigint[], text) is
  'Problems with the input of analysis tasks, and whether it is distributed, one row per task; the columns are those '
  'of brokerage.task_facts.';
