-- Section 9: a new queue has its own right priority when it becomes visible; the others of its entity follow (taskqueue.share_mark).
-- One pass over the queues of the group, by their mean weights as last computed.
create or replace function taskqueue.new_priority(p_setup text, p_definition taskqueue.definition, p_weight float8) returns float8
language sql stable
as $$
  with the_group as (
    select coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background
      from (values (1)) one left join taskqueue.owner_group g on g.setup = p_setup and g.owner_group = p_definition.owner_group
  ), queue as (
    select q.owner_dn, q.mean_weight, q.definition_id from taskqueue.task_queue q where q.setup = p_setup and q.owner_group = p_definition.owner_group
    union all
    select p_definition.owner_dn, p_weight, p_definition.definition_id
  ), entity as (
    select g.share * taskqueue.correction(p_setup, p_definition.owner_group, case when g.job_sharing then '' else p_definition.owner_dn end)
             / case when g.job_sharing then 1 else count(distinct q.owner_dn) end as share,
           sum(q.mean_weight) filter (where (g.job_sharing or q.owner_dn = p_definition.owner_dn)
                                        and not taskqueue.is_background(q.mean_weight, g.allow_background)) as total,
           g.allow_background
      from queue q, the_group g
     group by g.share, g.job_sharing, g.allow_background
  )
  select sum(taskqueue.own_priority(e.share, q.mean_weight, e.total, e.allow_background))
    from queue q, entity e
   where q.definition_id = p_definition.definition_id
      or q.definition_id in (select d.definition_id from taskqueue.definition d where d.setup = p_setup and d.family = p_definition.family)
$$;

comment on function taskqueue.new_priority(text, taskqueue.definition, float8) is
'Priority of a queue that is about to open with the mean draw weight given, its family counted (section 9).';
