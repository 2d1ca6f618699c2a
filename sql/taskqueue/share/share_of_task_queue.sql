-- SHARES.md, Priority of a TaskQueue: the priorities follow from the jobs as they are now. Siblings are priced as one
-- TaskQueue with the jobs of all of them.
create or replace function taskqueue.share_of_task_queue(p_setup text, p_groups text[])
returns table (task_queue_id bigint, mean_weight float8, priority float8, siblings int)
language sql stable as $$
  with task_queue as (
    select q.task_queue_id, q.owner_group,
           case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as entity,
           d.family, d.sibling_key, q.enabled and not q.held as is_enabled, w.weight, w.jobs,
           s.shares, coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing,
           coalesce(g.allow_background, false) as allow_background
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
     cross join lateral taskqueue.weight_of_task_queue(q, s.ten_first) w
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup and q.owner_group = any (p_groups)
  ), owner as (
    select o.owner_group, count(distinct o.owner_dn) as owners
      from taskqueue.task_queue o where o.setup = p_setup and o.owner_group = any (p_groups)
     group by o.owner_group
  ), one as (
    select q.sibling_key, q.family, q.owner_group, q.entity, q.shares, q.share, q.job_sharing, q.allow_background,
           coalesce(sum(q.weight * q.jobs) / nullif(sum(q.jobs), 0), avg(q.weight)) as weight,
           greatest(count(*) filter (where q.is_enabled), 1)::int as siblings
      from task_queue q
     group by 1, 2, 3, 4, 5, 6, 7, 8
  ), priced as (
    select q.sibling_key, q.siblings,
           sum(taskqueue.own_priority(q.share * coalesce(c.factor, 1)
                                      / case when q.job_sharing then 1 else q.owners end,
                                      q.weight, q.whole, q.allow_background)) over (partition by q.family) as priority
      from (select i.*, o.owners,
                   sum(i.weight) filter (where not taskqueue.is_background(i.weight, i.allow_background))
                     over (partition by i.owner_group, i.entity) as whole
              from one i join owner o using (owner_group)) q
      left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = q.owner_group
                                            and c.owner_dn = case when q.shares = 'global' then '' else q.entity end
  )
  select q.task_queue_id, q.weight, p.priority, p.siblings from task_queue q join priced p using (sibling_key)
$$;

comment on function taskqueue.share_of_task_queue(text, text[]) is
  'Mean weight, priority and number of siblings of each TaskQueue of owner groups, from the shares, the present jobs '
  'and the corrections.';
