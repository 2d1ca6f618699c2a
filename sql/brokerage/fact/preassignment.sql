-- The queues are those that the task names (production-candidates.md, prod-initial-preassigned;
-- production-candidates.md, preassigned-merge). The site of a master dataset precedes the task's own site, unless the
-- task has been frozen for so long that the pre-assignment is ignored.
create or replace function brokerage.preassignment(
  p_task workload.task, p_master workload.dataset, p_now timestamptz, p_base_profile text, out queues text[],
  out by text
)
language sql stable parallel safe as $$
  select case when m.site <> '' then case when not m.ignored then resource.names_of_list(m.site) end
              when coalesce((p_task).site, '') <> '' then resource.names_of_list((p_task).site) end,
         case when m.site <> '' then case when not m.ignored then 'preassigned-merge' end
              when coalesce((p_task).site, '') <> '' then 'prod-initial-preassigned' end
    from (select coalesce((p_master).site, '') as site,
                 coalesce(case p_base_profile
                            when 'documented' then (p_task).frozen < p_now - interval '24 hours'
                            else (p_task).frozen < p_now - interval '6 hours'
                                 and (p_master).modified < p_now - interval '24 hours'
                                 and (p_master).created <> (p_master).modified end, false) as ignored) m
$$;

comment on function brokerage.preassignment(workload.task, workload.dataset, timestamptz, text) is
  'Queues to which a task is pre-assigned, by its master dataset or its own site, and the rule that applies; null if '
  'it is not pre-assigned.';
