-- A site that is the name of a storage instead of a queue means the queues that read this storage (panda2026). They
-- replace the task's allow list, and its lists count only if it has limitedSites (analysis-candidates.md,
-- include-exclude).
create or replace function brokerage.sites_of_analysis(p_setup text, p_task_ids bigint[], p_base_profile text)
returns table (task_id bigint, preassigned text[], preassigned_by text, included_sites text[], excluded_sites text[],
               sites text[], limited_sites boolean, sites_used text[], avoid_vp boolean, cloud text,
               n_gb_per_job float8, has_platform boolean)
language sql stable as $$
  select t.task_id, p.names, case when p.names is not null then 'preassigned' end,
         -- most tasks name no site, and the call is expensive
         case when cardinality(l.included) > 0
              then brokerage.name_patterns(p_setup, l.included, p_base_profile <> 'documented') end,
         case when cardinality(t.excluded_site) > 0 and l.lists_count
              then brokerage.name_patterns(p_setup, t.excluded_site, p_base_profile <> 'documented') end,
         case when cardinality(p.names) > 0 then brokerage.name_patterns(p_setup, p.names, false) end,
         t.limited_sites is not null or cardinality(p.storage_queues) > 0, coalesce(t.sites_used, '{}'),
         coalesce(t.avoid_vp, false), t.cloud, t.n_gb_per_job,
         p_base_profile <> 'documented'
         and coalesce(brokerage.read_architecture(t.architecture, p_base_profile) ->> 'sw_platform', '') <> ''
    from workload.task t
   cross join lateral (
         select nullif(array_agg(m.name) filter (where not m.is_storage), '{}'), array_remove(array_agg(r.queue), null)
           from (select n.name,
                        p_base_profile <> 'documented'
                        and not exists (select from resource.queue q
                                         where q.setup = p_setup and q.queue = split_part(n.name, '/', 1))
                        and exists (select from resource.queue_storage x
                                     where x.setup = p_setup and x.storage = n.name
                                       and x.direction = 'read_lan') as is_storage
                   from unnest(resource.names_of_list(t.site)) n(name)) m
           left join resource.queue_storage r on m.is_storage and r.setup = p_setup and r.storage = m.name
                                             and r.direction = 'read_lan') p(names, storage_queues)
   cross join lateral (
         select c.lists_count,
                case when cardinality(p.storage_queues) > 0 then p.storage_queues
                     when c.lists_count then t.included_site end as included
           from (select p_base_profile = 'documented' or t.limited_sites is not null as lists_count) c) l
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

comment on function brokerage.sites_of_analysis(text, bigint[], text) is
  'Queues that analysis tasks name, want or refuse, one row per task; the columns are those of brokerage.task_facts.';
