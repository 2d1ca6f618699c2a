-- DRAWING.md, Posting lists. A TaskQueue has postings while it is open: enabled, and neither it nor its owner held. The
-- caller has locked the rows of the TaskQueues, or has just made them, so that postings never outlive a change. A
-- transaction that appends to a list holds the row of the list until the commit, so that a position is given once. All
-- lists are locked at once. A caller that waits locks them in the order of their keys, so that two never deadlock.
-- JobAgents and submitters do not wait (p_wait false): where another transaction works on one of the lists, the
-- TaskQueues are left to taskqueue.post_pending. A new list has no row to lock yet, and an insert would wait for
-- another insert of the same list: its maker holds the lock of one of 32 parts into which the lists of a setup are
-- hashed. So a transaction takes at most 32 locks, however many lists and calls it makes: less than a connection's
-- share of PostgreSQL's lock table (max_locks_per_transaction, 64 by default). With a lock per list, one job with
-- 50,000 sites filled that table, and the calls of every setup failed. Two lists of one part at the same time cost a
-- posting that comes a little later.
-- Long because the postings, their lists and the locks of both change in one order.
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
  v_wanted int;
  v_parts int[];
  v_part int;
begin
  if p_task_queue_ids = '{}' then
    return true;
  end if;
  if p_wait then  -- maintenance posts group by group: callers that wait form one line here, before they lock a list
    perform pg_advisory_xact_lock(hashtextextended(p_setup, 7));
  end if;
  with gone as (
    delete from taskqueue.posting d
     where d.setup = p_setup and d.task_queue_id = any (p_task_queue_ids)
       and not exists (select from taskqueue.posted_task_queue p
                         join taskqueue.wanted_posting w using (setup, site, cpu_time, weight_class, task_queue_id)
                        where p.setup = p_setup and p.list_id = d.list_id and p.weight_class = d.weight_class
                          and p.position = d.position)
    returning d.list_id, d.weight_class
  )
  select array_agg(g.list_id), array_agg(g.weight_class) into v_left_lists, v_left_classes from gone g;
  select array_agg(w.site), array_agg(w.cpu_time), array_agg(w.weight_class), array_agg(w.task_queue_id),
         count(distinct (w.site, w.cpu_time))
    into v_sites, v_cpu_times, v_weight_classes, v_ids, v_wanted
    from (select i.* from taskqueue.wanted_posting i
           where i.setup = p_setup and i.task_queue_id = any (p_task_queue_ids)
             and not exists (select from taskqueue.posted_task_queue p
                              where p.setup = p_setup and p.task_queue_id = i.task_queue_id
                                and (p.site, p.cpu_time, p.weight_class) = (i.site, i.cpu_time, i.weight_class))
           order by i.task_queue_id, i.site) w;
  while v_wanted > 0 loop  -- maintenance may remove an empty list before it is locked here
    v_parts := '{}'::int[];
    for v_part in
      select distinct hashtextextended(w.site, w.cpu_time) & 31 from unnest(v_sites, v_cpu_times) w (site, cpu_time)
       where not exists (select from taskqueue.posting_list l
                          where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
       order by 1
    loop
      if p_wait then
        perform pg_advisory_xact_lock(hashtextextended(p_setup, 32 + v_part));
      end if;
      if p_wait or pg_try_advisory_xact_lock(hashtextextended(p_setup, 32 + v_part)) then
        v_parts := v_parts || v_part;
      end if;
    end loop;
    if v_parts <> '{}' then
      insert into taskqueue.posting_list (setup, site, cpu_time)
      select distinct p_setup, w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time)
       where hashtextextended(w.site, w.cpu_time) & 31 = any (v_parts)
         and not exists (select from taskqueue.posting_list l
                          where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
      on conflict do nothing;
    end if;
    if p_wait then
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup
                             and (l.site, l.cpu_time) in (
                               select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update);
      exit when cardinality(v_list_ids) = v_wanted;
    else
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup
                             and (l.site, l.cpu_time) in (
                               select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                             for update skip locked);
      exit when cardinality(v_list_ids) = v_wanted;
      insert into taskqueue.unposted (setup, task_queue_id) select p_setup, unnest(p_task_queue_ids);
      return false;
    end if;
  end loop;
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
  'Makes the postings of TaskQueues equal to taskqueue.wanted_posting, changing only what differs; false: they were '
  'left to taskqueue.post_pending.';
