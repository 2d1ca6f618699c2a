-- SHARES.md, Priority of a TaskQueue: the priorities follow from the jobs as they are now.
create or replace function taskqueue.share_of_task_queue(p_setup text, p_group text default null)
returns table (task_queue_id bigint, mean_weight float8, priority float8)
language sql stable as $$
  with task_queue as (
    select q.task_queue_id, q.owner_group,
           case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as entity,
           d.family, w.weight as mean_weight,
           s.shares, coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing,
           coalesce(g.allow_background, false) as allow_background
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
     cross join lateral taskqueue.weight_of_task_queue(q, s.ten_first) w
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup and (p_group is null or q.owner_group = p_group)
  ), owner as (
    select o.owner_group, count(distinct o.owner_dn) as owners
      from taskqueue.task_queue o where o.setup = p_setup and (p_group is null or o.owner_group = p_group)
     group by o.owner_group
  ), own as (
    select q.task_queue_id, q.family, q.mean_weight,
           taskqueue.own_priority(q.share * coalesce(c.factor, 1) / case when q.job_sharing then 1 else o.owners end,
                                  q.mean_weight,
                                  sum(q.mean_weight) filter (
                                    where not taskqueue.is_background(q.mean_weight, q.allow_background))
                                    over (partition by q.owner_group, q.entity),
                                  q.allow_background) as priority
      from task_queue q join owner o using (owner_group)
      left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = q.owner_group
                                            and c.owner_dn = case when q.shares = 'global' then '' else q.entity end
  )
  select w.task_queue_id, w.mean_weight, sum(w.priority) over (partition by w.family) from own w
$$;

comment on function taskqueue.share_of_task_queue(text, text) is
  'Mean weight and priority of each TaskQueue of a setup or of one owner group, from the shares, the present jobs and '
  'the corrections.';
