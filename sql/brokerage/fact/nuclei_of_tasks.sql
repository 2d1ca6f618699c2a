-- Task brokerage also reads whether the nucleus is preset, the parent, and the input whose place counts for a nucleus
-- (task-brokerage.md).
create or replace function brokerage.nuclei_of_tasks(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_algorithm text
) returns table (
  task_id bigint, nucleus text, nucleus_mode text, nucleus_queued bigint, nucleus_queued_express bigint,
  nucleus_is_writable boolean, is_preset boolean, parent_nucleus text, parent_full_chain int, parent_nucleus_mode text,
  located_files bigint, located_bytes bigint
)
language sql stable as $$
  with link as materialized (
    select l.dst, sum(coalesce(l.queued, 0)) as queued, sum(coalesce(l.queued_express, 0)) as queued_express
      from brokerage.link_figures(p_setup) l group by l.dst
  ), located as materialized (
    select i.task_id, count(f.lfn) as files, sum(f.size) as bytes
      from workload.task_dataset i
      join workload.task t on t.setup = i.setup and t.task_id = i.task_id
      join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
      join workload.dataset_file f on f.setup = i.setup and f.dataset = i.dataset
     where p_algorithm = 'production_task' and i.setup = p_setup and i.task_id = any (p_task_ids)
       and i.direction = 'input' and not workload.is_pseudo(d)
       and (i.position = 1 or not coalesce(t.task_broker_on_master, false))
       and (p_base_profile = 'documented' or brokerage.is_scanned(i.dataset))
     group by i.task_id
  )
  select t.task_id, t.nucleus, m.mode, coalesce(l.queued, 0)::bigint, coalesce(l.queued_express, 0)::bigint,
         u.nucleus is null, n.nucleus is not null or f.nucleus is not null or o.nucleus is not null, pt.nucleus,
         pt.full_chain::int, pm.mode, coalesce(w.files, 0)::bigint, coalesce(w.bytes, 0)::bigint
    from workload.task t
    left join link l on l.dst = t.nucleus
    left join resource.nucleus n on n.setup = t.setup and n.nucleus = t.nucleus
    left join brokerage.first_nucleus_queue f on f.setup = t.setup and f.nucleus = t.nucleus
    -- or a satellite with a mode
    left join brokerage.nucleus_site o on p_algorithm = 'production_task' and p_base_profile <> 'documented'
                                      and o.setup = t.setup and o.nucleus = t.nucleus
    left join brokerage.unwritable_nucleus u on u.setup = t.setup and u.nucleus = t.nucleus
   cross join lateral (select brokerage.bare_nucleus(n.bare_nucleus, f.attributes)) m(mode)
    left join located w on w.task_id = t.task_id
    left join workload.task pt on p_algorithm = 'production_task' and pt.setup = t.setup and pt.task_id = t.parent
                              and pt.task_id <> t.task_id
    left join resource.nucleus pn on pn.setup = t.setup and pn.nucleus = pt.nucleus
    left join brokerage.nucleus_site ps on ps.setup = t.setup and ps.nucleus = pt.nucleus
   cross join lateral (select brokerage.bare_nucleus(pn.bare_nucleus, ps.attributes)) pm(mode)
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

comment on function brokerage.nuclei_of_tasks(text, bigint[], text, text) is
  'The nuclei of tasks and their links; for the task broker also the nuclei of parents, and the input. One row per '
  'task; the columns are those of brokerage.task_facts.';
