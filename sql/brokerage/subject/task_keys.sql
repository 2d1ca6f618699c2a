-- The keys are one number per subject and one number for all subjects (class). A key also says whether the input can be
-- read over WAN (input-completeness). In documented, facts that only panda2026 reads are left out.
create or replace function brokerage.task_keys(
  p_setup text, p_tasks brokerage.task_facts[], p_base_profile text, p_analysis boolean
) returns setof brokerage.task_key
language sql stable as $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.nucleus, f.gshare, f.resource_type, f.label, f.input_pre_staging
      from unnest(p_tasks) with ordinality f
  ), numbered as not materialized (
    select f.number,
           dense_rank() over (order by f.nucleus) as nucleus_number,
           dense_rank() over (order by f.gshare, f.resource_type, r.resource_types_at,
                                        case when p_analysis then f.label end) as mix_number,
           dense_rank() over (order by k.share_key) as policy_number,
           dense_rank() over (order by k.software_key, k.level) as software_number,
           r.resource_types_at, k.share_key, k.software_key, k.level
      from task f
      left join workload.task t on t.setup = p_setup and t.task_id = f.task_id
     cross join lateral (select brokerage.share_key(t), brokerage.software_key(t),
                                brokerage.platform_level(t.architecture)
                         offset 0) k(share_key, software_key, level)
     cross join lateral (
       select case when p_base_profile <> 'documented' then t.resource_types_at end) r(resource_types_at)
  ), input as materialized (  -- input that can be read only at the place of a copy
    select distinct f.number, i.dataset
      from task f
      join workload.task_dataset i on i.setup = p_setup and i.task_id = f.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where p_base_profile <> 'documented' and not workload.is_pseudo(d)
       and not (f.input_pre_staging or coalesce(d.distributed, false))
  ), closed as materialized (  -- each dataset is read once
    select i.dataset
      from (select distinct i.dataset from input i) i
     where not exists (select from brokerage.input_source r
                        where r.setup = p_setup and r.dataset = i.dataset and r.can_read_wan)
  ), unreadable as materialized (
    select distinct i.number from input i join closed c on c.dataset = i.dataset
  )
  select dense_rank() over (order by n.nucleus_number, n.mix_number, n.policy_number, n.software_number),
         n.nucleus_number, n.mix_number, n.policy_number, n.software_number, n.resource_types_at, n.share_key,
         n.software_key, n.level, n.number not in (select u.number from unreadable u)
    from numbered n
   order by n.number
$$;

comment on function brokerage.task_keys(text, brokerage.task_facts[], text, boolean) is
  'The keys by which tasks share the facts of subjects, one row per task in the order of the tasks.';
