-- SHARES.md, When priorities change: a new TaskQueue has its correct priority when it becomes visible; the other
-- TaskQueues of its entity follow (taskqueue.share_mark). Counting the jobs of a TaskQueue takes 20 us, so up to ten
-- TaskQueues of an entity are counted as they are now. For more TaskQueues, the weights behind their present priorities
-- are used (taskqueue.owner_weight), which maintenance keeps within a tenth. Two transactions that open TaskQueues of
-- an entity at the same time do not see each other's TaskQueues; both leave a mark. The number of owners of a group is
-- read once per call, and the data of a family once for all its TaskQueues: reading them for each TaskQueue took four
-- minutes for 20,000 new owners of a group.
create or replace function taskqueue.open_task_queues(p_setup text, p_task_queue_ids bigint[]) returns void
language plpgsql as $$
declare
  v_entity record;
  v_group text;
  v_group_owners bigint;
  v_owners bigint;
  v_owner_dns text[];  -- the owners of the entity
  v_task_queues bigint;
  v_weight float8;
begin
  if p_task_queue_ids = '{}' then
    return;
  end if;
  perform taskqueue.count_siblings(p_setup, p_task_queue_ids);
  perform taskqueue.note_weights(p_setup, array(select q from taskqueue.task_queue q
                                                 where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)),
                                 1);
  for v_entity in
    select q.owner_group,
           case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn,
           coalesce(g.share, 1000) * coalesce(c.factor, 1) as share,
           coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background,
           s.ten_first, array_agg(q.task_queue_id) as ids
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
      left join taskqueue.share_correction c
             on c.setup = q.setup and c.owner_group = q.owner_group
            and c.owner_dn = case when s.shares = 'global' or coalesce(g.job_sharing, false) then '' else q.owner_dn end
     where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     group by 1, 2, 3, 4, 5, 6
     order by 1
  loop
    if v_entity.owner_group is distinct from v_group then
      v_group := v_entity.owner_group;
      insert into taskqueue.share_mark (setup, owner_group, marked_at)
      values (p_setup, v_group, resource.clock(p_setup));
      if random() < 1.0 / 16 then
        perform taskqueue.fold_weights(p_setup, v_group);
      end if;
      select count(*), array_agg(o.owner_dn) filter (where v_entity.job_sharing)
        into v_group_owners, v_owner_dns
        from (select w.owner_dn from taskqueue.owner_weight w
               where w.setup = p_setup and w.owner_group = v_group
               group by w.owner_dn having sum(w.task_queues) > 0) o;
    end if;
    v_owners := case when v_entity.job_sharing then 1 else v_group_owners end;
    v_owner_dns := case when v_entity.job_sharing then v_owner_dns else array[v_entity.owner_dn] end;
    -- one lookup per owner, since up to PostgreSQL 16 the condition = any (...) reads the whole group for each owner
    select sum(w.task_queues), sum(w.weight) into v_task_queues, v_weight
      from unnest(v_owner_dns) o (owner_dn)
     cross join lateral (
       select sum(i.task_queues) as task_queues,
              sum(i.weight) filter (where not (i.light and v_entity.allow_background)) as weight
         from taskqueue.owner_weight i
        where i.setup = p_setup and i.owner_group = v_group and i.owner_dn = o.owner_dn) w;
    if v_task_queues <= 10 then
      select sum(o.weight) filter (where not taskqueue.is_background(o.weight, v_entity.allow_background)) into v_weight
        from (select coalesce(sum(w.weight * w.jobs) / nullif(sum(w.jobs), 0), avg(w.weight)) as weight
                from taskqueue.task_queue q
                join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
               cross join lateral taskqueue.weight_of_task_queue(q, v_entity.ten_first) w
               where q.setup = p_setup and q.owner_group = v_group and q.owner_dn = any (v_owner_dns)
               group by d.sibling_key) o;
    end if;
    with p as materialized (  -- otherwise it may be computed again for each TaskQueue, without statistics
      select o.family, sum(taskqueue.own_priority(v_entity.share / v_owners, o.weight, v_weight,
                                                  v_entity.allow_background)) as priority
        from (select f.family, coalesce(sum(w.weight * w.jobs) / nullif(sum(w.jobs), 0), avg(w.weight)) as weight
                from (select distinct d.family from taskqueue.task_queue n
                        join taskqueue.definition d on d.setup = n.setup and d.definition_id = n.definition_id
                       where n.setup = p_setup and n.task_queue_id = any (v_entity.ids)) i
                join taskqueue.definition f on f.setup = p_setup and f.family = i.family
                join taskqueue.task_queue m on m.setup = f.setup and m.definition_id = f.definition_id
               cross join lateral (select m.mean_weight as weight, 0 as jobs where v_task_queues > 10
                                   union all
                                   select c.weight, c.jobs
                                     from taskqueue.weight_of_task_queue(m, v_entity.ten_first) c
                                    where v_task_queues <= 10) w
               group by f.family, f.sibling_key) o
       group by o.family
    )
    update taskqueue.task_queue q set priority = p.priority
      from p
      join taskqueue.definition d on d.setup = p_setup and d.family = p.family
     where q.setup = p_setup and q.definition_id = d.definition_id and q.task_queue_id = any (v_entity.ids);
  end loop;
  perform taskqueue.post_task_queues(p_setup, p_task_queue_ids, false);
end $$;

comment on function taskqueue.open_task_queues(text, bigint[]) is
  'Gives TaskQueues that taskqueue.make_task_queue made in this transaction their priorities and their postings.';
