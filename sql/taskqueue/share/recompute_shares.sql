-- Section 9. A queue that another transaction is deleting or posting is passed over: nobody waits for
-- this, and this waits for nobody.
create or replace function taskqueue.recompute_shares(p_setup text, p_group text default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
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
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- those passed over are for the next time
  select distinct p_setup, q.owner_group, resource.clock(p_setup) from taskqueue.task_queue q
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and q.task_queue_id <> all (v_locked);
  with changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight
      from taskqueue.share_of_queue(p_setup, p_group) s
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = s.task_queue_id
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority <> s.priority or q.mean_weight <> s.mean_weight)
    returning q.task_queue_id, q.owner_group, q.owner_dn, o.mean_weight as old_weight, q.mean_weight,
              q.posted and taskqueue.band_of(q.priority) <> taskqueue.band_of(o.priority) as elsewhere
  ), noted as (  -- the queues are locked: nobody else changes or drops what is taken away here
    insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
    select p_setup, c.owner_group, c.owner_dn, taskqueue.is_background(v.weight, true), sum(v.queues),
           sum(v.queues * v.weight::numeric)
      from changed c cross join lateral (values (c.old_weight, -1), (c.mean_weight, 1)) v (weight, queues)
     group by 2, 3, 4 having sum(v.queues) <> 0 or sum(v.queues * v.weight::numeric) <> 0
  )
  select count(*), coalesce(array_agg(c.task_queue_id) filter (where c.elsewhere), '{}')
    into v_changed, v_elsewhere
    from changed c;
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct w.owner_group from taskqueue.owner_weight w
            where w.setup = p_setup and (p_group is null or w.owner_group = p_group)) g;
  perform taskqueue.post_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

comment on function taskqueue.recompute_shares(text, text) is
  'Gives the queues of a setup, or of one owner group, the priorities of section 9 as things are now; '
  'returns how many queues changed. Errors: PB002 (setup not granted).';
