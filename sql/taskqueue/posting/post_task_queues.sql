-- DRAWING.md, Posting lists. A TaskQueue has postings while it is open: enabled, and neither it nor its owner held. The
-- caller has locked the rows of the TaskQueues, or has just made them, so that postings never outlive a change. If a
-- JobAgent or submitter finds that another transaction works on one of the lists, it leaves the TaskQueues to
-- taskqueue.post_pending.
create or replace function taskqueue.post_task_queues(
  p_setup text, p_task_queue_ids bigint[], p_wait boolean default true
) returns boolean
language plpgsql as $$
declare
  v_sites text[];
  v_cpu_times bigint[];
  v_weight_classes int[];
  v_ids bigint[];
  v_list_ids bigint[];
  v_left_lists bigint[];
  v_left_classes int[];
begin
  if p_task_queue_ids = '{}' then
    return true;
  end if;
  if p_wait then  -- maintenance posts group by group: callers that wait form one line here, before they lock a list
    perform taskqueue.join_line(p_setup);
  end if;
  with gone as (  -- each posting is looked up by keys: a join would compare it with all postings of the setup
    delete from taskqueue.posting d
     where d.setup = p_setup and d.task_queue_id = any (p_task_queue_ids)
       and (select true from taskqueue.posting_list l
              join taskqueue.wanted_posting w using (setup, site, cpu_time)
             where l.setup = p_setup and l.list_id = d.list_id and w.task_queue_id = d.task_queue_id
               and w.weight_class = d.weight_class limit 1) is null
    returning d.list_id, d.weight_class
  )
  select array_agg(g.list_id), array_agg(g.weight_class) into v_left_lists, v_left_classes from gone g;
  select array_agg(w.site), array_agg(w.cpu_time), array_agg(w.weight_class), array_agg(w.task_queue_id)
    into v_sites, v_cpu_times, v_weight_classes, v_ids
    from (select i.* from taskqueue.wanted_posting i
           where i.setup = p_setup and i.task_queue_id = any (p_task_queue_ids)
             and (select true from taskqueue.posted_task_queue p
                   where p.setup = p_setup and p.task_queue_id = i.task_queue_id
                     and (p.site, p.cpu_time, p.weight_class) = (i.site, i.cpu_time, i.weight_class) limit 1) is null
           order by i.task_queue_id, i.site) w;
  if v_ids is not null and not taskqueue.lock_lists(p_setup, v_sites, v_cpu_times, p_wait) then
    insert into taskqueue.unposted (setup, task_queue_id) select p_setup, unnest(p_task_queue_ids);
    return false;
  end if;
  update taskqueue.task_queue q set is_open = not q.is_open
   where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     and q.is_open <> exists (select from taskqueue.wanted_posting w
                               where w.setup = p_setup and w.task_queue_id = q.task_queue_id);
  -- the weight classes that were left may have become shorter; taskqueue.close_gaps closes gaps
  if v_left_lists is not null then
    select array_agg(g.list_id), array_agg(g.weight_class) into v_left_lists, v_left_classes
      from unnest(v_left_lists, v_left_classes) g (list_id, weight_class)
      join (select l.list_id from taskqueue.posting_list l
             where l.setup = p_setup and l.list_id = any (v_left_lists)
               for update skip locked) i using (list_id);
    perform taskqueue.summarize_lists(p_setup, v_left_lists, v_left_classes);
  end if;
  if v_ids is null then
    return true;
  end if;
  with posted as (
    insert into taskqueue.posting (setup, list_id, weight_class, position, task_queue_id)
    select p_setup, l.list_id, w.weight_class,
           coalesce(l.positions[array_position(l.weight_classes, w.weight_class)], 0)
           + row_number() over (partition by l.list_id, w.weight_class order by w.task_queue_id),
           w.task_queue_id
      from unnest(v_sites, v_cpu_times, v_weight_classes, v_ids) w (site, cpu_time, weight_class, task_queue_id)
      join taskqueue.posting_list l on l.setup = p_setup and (l.site, l.cpu_time) = (w.site, w.cpu_time)
    returning list_id, weight_class
  )
  select array_agg(p.list_id), array_agg(p.weight_class) into v_list_ids, v_weight_classes from posted p;
  perform taskqueue.summarize_lists(p_setup, v_list_ids, v_weight_classes);
  return true;
end $$;

comment on function taskqueue.post_task_queues(text, bigint[], boolean) is
  'Makes the postings of TaskQueues equal to taskqueue.wanted_posting, and writes only the differences; false if they '
  'were left to taskqueue.post_pending.';
