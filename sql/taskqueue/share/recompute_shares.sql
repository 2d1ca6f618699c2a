-- SHARES.md, When priorities change. A TaskQueue that another transaction deletes or posts is skipped and marked again,
-- so recomputing does not wait, and no other call waits for it.
create or replace function taskqueue.recompute_shares(p_setup text, p_group text default null) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_locked bigint[];
  v_changed bigint;
  v_elsewhere bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  perform taskqueue.correct_shares(p_setup, p_group);
  delete from taskqueue.share_mark m where m.ctid = any (array(
    select k.ctid from taskqueue.share_mark k
     where k.setup = p_setup and (p_group is null or k.owner_group = p_group)
       for update skip locked));
  v_locked := array(select q.task_queue_id from taskqueue.task_queue q
                     where q.setup = p_setup and (p_group is null or q.owner_group = p_group)
                       for no key update skip locked);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- skipped TaskQueues are left for the next call
  select distinct p_setup, q.owner_group, resource.clock(p_setup) from taskqueue.task_queue q
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and q.task_queue_id <> all (v_locked);
  with changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight, siblings = s.siblings
      from taskqueue.share_of_task_queue(p_setup, p_group) s
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = s.task_queue_id
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority, q.mean_weight, q.siblings) <> (s.priority, s.mean_weight, s.siblings)
    returning q.task_queue_id, o as old, q as new,
              q.is_open and taskqueue.weight_class_of(q.priority, q.siblings)
                            <> taskqueue.weight_class_of(o.priority, o.siblings) as elsewhere
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
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct w.owner_group from taskqueue.owner_weight w
            where w.setup = p_setup and (p_group is null or w.owner_group = p_group)) g;
  perform taskqueue.post_task_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

comment on function taskqueue.recompute_shares(text, text) is
  'Gives the TaskQueues of a setup, or of one owner group, the priorities that follow from their present jobs and '
  'shares; returns how many TaskQueues changed. Errors: PB002 (setup not granted).';
