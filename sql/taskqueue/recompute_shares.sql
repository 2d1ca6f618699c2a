-- Section 9. A queue that another transaction is deleting or posting is passed over: nobody waits for this, and this waits for nobody.
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
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = s.task_queue_id
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority <> s.priority or q.mean_weight <> s.mean_weight)
    returning q.task_queue_id, q.posted and taskqueue.band_of(q.priority) <> taskqueue.band_of(o.priority) as elsewhere
  )
  select count(*), coalesce(array_agg(c.task_queue_id) filter (where c.elsewhere), '{}') into v_changed, v_elsewhere from changed c;
  perform taskqueue.post_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

comment on function taskqueue.recompute_shares(text, text) is
'Gives the queues of a setup, or of one owner group, the priorities of section 9 as things are now; returns how many queues changed. Errors: PB002 (setup not granted).';
