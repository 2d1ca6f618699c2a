-- The postings of queues are there while they are open: enabled, and neither they nor their owners held. The caller
-- has locked the queues' rows, or just made them, so that postings never outlive a change. Whoever appends to a list
-- holds its row until the commit: places are given once.
-- Lists are locked in the order of their keys, all at once, so that two who open queues never
-- wait for each other crosswise.
-- Agents and submitters do not wait (p_wait false): where somebody works on one of the lists, the queues are
-- left to taskqueue.post_pending.
create or replace function taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean default true)
returns boolean
language plpgsql
as $$
declare
  v_sites text[];
  v_cpu_times bigint[];
  v_bands int[];
  v_ids bigint[];
  v_list_ids bigint[];
  v_left_lists bigint[];
  v_left_bands int[];
  v_wanted int;
  v_new record;
begin
  if p_task_queue_ids = '{}' then
    return true;
  end if;
  if p_wait then  -- maintenance posts group by group: those who wait do so one after the other, before any list
    perform pg_advisory_xact_lock(hashtextextended(p_setup, 7));
  end if;
  with gone as (
    delete from taskqueue.posting d
     where d.setup = p_setup and d.task_queue_id = any (p_task_queue_ids)
       and not exists (select from taskqueue.posted_queue p
                         join taskqueue.wanted_posting w using (setup, site, cpu_time, band, task_queue_id)
                        where p.setup = p_setup and p.list_id = d.list_id and p.band = d.band and p.place = d.place)
    returning d.list_id, d.band
  )
  select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands from gone g;
  select array_agg(w.site), array_agg(w.cpu_time), array_agg(w.band), array_agg(w.task_queue_id),
         count(distinct (w.site, w.cpu_time))
    into v_sites, v_cpu_times, v_bands, v_ids, v_wanted
    from (select i.* from taskqueue.wanted_posting i
           where i.setup = p_setup and i.task_queue_id = any (p_task_queue_ids)
             and not exists (select from taskqueue.posted_queue p
                              where p.setup = p_setup and p.task_queue_id = i.task_queue_id
                                and (p.site, p.cpu_time, p.band) = (i.site, i.cpu_time, i.band))
           order by i.task_queue_id, i.site) w;
  while v_wanted > 0 loop  -- maintenance may remove a list that is empty before it is locked here
    for v_new in  -- a lock for each list that is to be made, since an insert would wait for another of the same list
      select distinct w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time)
       where not exists (select from taskqueue.posting_list l
                          where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
       order by 1, 2
    loop
      if p_wait then
        perform pg_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time));
      end if;
      if p_wait or pg_try_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time)) then
        insert into taskqueue.posting_list (setup, site, cpu_time)
        values (p_setup, v_new.site, v_new.cpu_time)
        on conflict do nothing;
      end if;
    end loop;
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
                           order by l.site, l.cpu_time
                             for update skip locked);
      exit when cardinality(v_list_ids) = v_wanted;
      insert into taskqueue.unposted (setup, task_queue_id) select p_setup, unnest(p_task_queue_ids);
      return false;
    end if;
  end loop;
  update taskqueue.task_queue q set posted = not q.posted
   where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     and q.posted <> (q.task_queue_id = any (coalesce(v_ids, '{}'))
                      or exists (select from taskqueue.posting p
                                  where p.setup = p_setup and p.task_queue_id = q.task_queue_id));
  if v_left_lists is not null then  -- the ends of bands that were left; gaps are for taskqueue.close_gaps
    select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands
      from unnest(v_left_lists, v_left_bands) g (list_id, band)
      join (select l.list_id from taskqueue.posting_list l
             where l.setup = p_setup and l.list_id = any (v_left_lists)
             order by l.site, l.cpu_time
               for update skip locked) i using (list_id);
    perform taskqueue.measure_lists(p_setup, v_left_lists, v_left_bands);
  end if;
  if v_ids is null then
    return true;
  end if;
  with posted as (
    insert into taskqueue.posting (setup, list_id, band, place, task_queue_id)
    select p_setup, l.list_id, w.band,
           coalesce(l.places[array_position(l.bands, w.band)],
                    0) + row_number() over (partition by l.list_id, w.band order by w.task_queue_id),
           w.task_queue_id
      from unnest(v_sites, v_cpu_times, v_bands, v_ids) w (site, cpu_time, band, task_queue_id)
      join taskqueue.posting_list l on l.setup = p_setup and (l.site, l.cpu_time) = (w.site, w.cpu_time)
    returning list_id, band
  )
  select array_agg(p.list_id), array_agg(p.band) into v_list_ids, v_bands from posted p;
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
  return true;
end $$;

comment on function taskqueue.post_queues(text, bigint[], boolean) is
  'Makes the postings of queues what taskqueue.wanted_posting says, changing only what differs; '
  'false: left to taskqueue.post_pending.';
