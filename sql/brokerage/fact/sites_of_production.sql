create or replace function brokerage.sites_of_production(p_setup text, p_task_ids bigint[], p_base_profile text)
returns table (task_id bigint, preassigned text[], preassigned_by text, included_sites text[], excluded_sites text[],
               sites text[], limited_sites boolean, sites_used text[], avoid_vp boolean, cloud text,
               n_gb_per_job float8, has_platform boolean)
language sql stable as $$
  select t.task_id, p.queues, p.by, null::text[], null::text[], null::text[], null::boolean, null::text[],
         null::boolean, null::text, null::float8, null::boolean
    from workload.task t
   cross join (select resource.clock(p_setup) as now offset 0) c
    left join workload.task_dataset i on i.setup = t.setup and i.task_id = t.task_id and i.direction = 'input'
                                     and i.position = 1
    left join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
   cross join lateral (select * from brokerage.preassignment(t, d, c.now, p_base_profile)) p
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

comment on function brokerage.sites_of_production(text, bigint[], text) is
  'Queues to which production tasks are pre-assigned, one row per task; the columns are those of brokerage.task_facts.';
