-- Section 9. A queue that another transaction is deleting or posting is passed over: nobody waits for this, and this waits for nobody.
create or replace function taskqueue.recompute_shares(p_setup text, p_group text default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_locked bigint[];
  v_changed bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.correct_shares(p_setup);
  delete from taskqueue.share_mark m where m.ctid = any (array(
    select k.ctid from taskqueue.share_mark k where k.setup = p_setup and (p_group is null or k.owner_group = p_group) for update skip locked));
  v_locked := array(select q.task_queue_id from taskqueue.task_queue q
                     where q.setup = p_setup and (p_group is null or q.owner_group = p_group) for no key update skip locked);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- those passed over are for the next time
  select distinct p_setup, q.owner_group, resource.clock(p_setup) from taskqueue.task_queue q
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and q.task_queue_id <> all (v_locked);
  with changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight
      from taskqueue.share_of_queue(p_setup, p_group) s
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority <> s.priority or q.mean_weight <> s.mean_weight)
    returning q.task_queue_id
  )
  select coalesce(array_agg(c.task_queue_id), '{}') into v_changed from changed c;
  update taskqueue.posting p set priority = q.priority
    from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = any (v_changed) and p.setup = q.setup and p.task_queue_id = q.task_queue_id and p.priority <> q.priority;
  return cardinality(v_changed);
end $$;

comment on function taskqueue.recompute_shares(text, text) is
'Gives the queues of a setup, or of one owner group, the priorities of section 9 as things are now; returns how many queues changed. Errors: PB002 (setup not granted).';
