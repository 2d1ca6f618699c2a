-- SHARES.md, When priorities change. A TaskQueue that another transaction deletes or posts is skipped and marked again,
-- so recomputing does not wait, and no other call waits for it. Each statement works on all groups of the call: a
-- statement for each group, which reads only the TaskQueues of the group, took 4 ms with 20,000 groups.
create or replace function taskqueue.recompute_groups(p_setup text, p_groups text[], p_most bigint default null)
returns bigint
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_locked bigint[];
  v_changed bigint;
  v_elsewhere bigint[];
begin
  delete from taskqueue.share_mark m where m.ctid = any (array(
    select k.ctid from taskqueue.share_mark k
     where k.setup = p_setup and k.owner_group = any (p_groups)
       for update skip locked));
  v_locked := array(select q.task_queue_id from taskqueue.task_queue q
                     where q.setup = p_setup and q.owner_group = any (p_groups)
                       for no key update skip locked);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- skipped TaskQueues are left for the next call
  select distinct p_setup, q.owner_group, v_now from taskqueue.task_queue q
   where q.setup = p_setup and q.owner_group = any (p_groups)
     and q.task_queue_id not in (select unnest(v_locked));
  with s as materialized (  -- otherwise it may be computed again for each TaskQueue, without statistics
    select i.*, o as old
      from taskqueue.share_of_task_queue(p_setup, p_groups) i
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = i.task_queue_id
     where (i.task_queue_id in (select unnest(v_locked))) is true  -- not a join, whose loops may be nested
       and (o.priority, o.mean_weight, o.siblings) <> (i.priority, i.mean_weight, i.siblings)
     limit p_most
  ), changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight, siblings = s.siblings
      from s
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id
    returning q.task_queue_id, s.old, q as new,
              q.is_open and taskqueue.weight_class_of(q.priority, q.siblings)
                            <> taskqueue.weight_class_of((s.old).priority, (s.old).siblings) as elsewhere
  ), noted as (  -- the TaskQueues are locked: no other transaction changes or drops the weights subtracted here
    insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, task_queues, weight)
    select p_setup, (v.q).owner_group, (v.q).owner_dn, taskqueue.is_background((v.q).mean_weight, true), sum(v.sign),
           sum(v.sign * (v.q).mean_weight::numeric / (v.q).siblings)
      from changed c cross join lateral (values (c.old, -1), (c.new, 1)) v (q, sign)
     group by 2, 3, 4
    having sum(v.sign) <> 0 or sum(v.sign * (v.q).mean_weight::numeric / (v.q).siblings) <> 0
  )
  select count(*), coalesce(array_agg(c.task_queue_id) filter (where c.elsewhere), '{}')
    into v_changed, v_elsewhere
    from changed c;
  if v_changed = p_most then  -- the next call goes on, after the groups that wait longer
    insert into taskqueue.share_mark (setup, owner_group, marked_at)
    select distinct p_setup, q.owner_group, v_now - s.share_delay / 2
      from taskqueue.task_queue q join taskqueue.setting s on s.setup = q.setup
     where q.setup = p_setup and q.owner_group = any (p_groups);
  end if;
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct n.owner_group
             from (select w.owner_group from taskqueue.owner_weight w
                    where w.setup = p_setup and w.owner_group = any (p_groups)
                    group by w.owner_group, w.owner_dn, w.light
                   having count(*) > 1) n) g;
  perform taskqueue.post_task_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

comment on function taskqueue.recompute_groups(text, text[], bigint) is
  'Gives the TaskQueues of owner groups the priorities that follow from their present jobs and shares, up to p_most of '
  'them (null = all; later calls go on); returns how many TaskQueues changed. The caller has entered the setup.';
