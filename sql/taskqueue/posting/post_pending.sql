-- DRAWING.md, Posting lists: the TaskQueues that could not be posted when they were opened
-- (taskqueue.post_task_queues). The call does not wait: TaskQueues with locked lists are left for the next call. A
-- JobAgent calls this, so it posts only a few TaskQueues at a time.
create or replace function taskqueue.post_pending(p_setup text, p_limit int default 20) returns boolean
language plpgsql as $$
declare
  v_ids bigint[];
begin
  if not exists (select from taskqueue.unposted u where u.setup = p_setup) then
    return false;
  end if;
  with gone as (
    delete from taskqueue.unposted u
     where u.ctid = any (
       array(select i.ctid from taskqueue.unposted i where i.setup = p_setup limit p_limit for update skip locked))
    returning u.task_queue_id
  )
  select array_agg(distinct g.task_queue_id) into v_ids from gone g;
  -- the TaskQueues that another transaction closes or drops
  insert into taskqueue.unposted (setup, task_queue_id)
  select p_setup, i
    from (select unnest(v_ids)
          except
          select unnest(array(select q.task_queue_id from taskqueue.task_queue q
                               where q.setup = p_setup and q.task_queue_id = any (v_ids)
                                 for no key update skip locked))) n (i)
   where exists (select from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = i);
  v_ids := array(select i from unnest(v_ids) i
                  where not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = i));
  return v_ids <> '{}' and taskqueue.post_task_queues(p_setup, v_ids, false);
end $$;

comment on function taskqueue.post_pending(text, int) is
  'Posts up to p_limit TaskQueues that were opened while another transaction worked on their lists; true if there were '
  'any and all of them could be posted.';
