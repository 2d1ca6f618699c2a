-- DRAWING.md, Posting lists. A transaction that appends to a list holds the row of the list until the commit, so that a
-- position is given once. All lists are locked at once. A caller that waits locks them in the order of their keys, so
-- that two never deadlock. JobAgents and submitters do not wait. A new list has no row to lock yet, and an insert would
-- wait for another insert of the same list: its maker holds the lock of one of 32 parts into which the lists of a setup
-- are hashed. So a transaction takes at most 32 locks, however many lists and calls it makes: fewer than a connection's
-- share of PostgreSQL's lock table (max_locks_per_transaction, 64 by default). With a lock per list, one job with
-- 50,000 sites filled that table, and the calls of every setup failed. If two transactions make lists of one part at
-- the same time, one posting comes a little later. New lists get their ids in the order of their keys, because a draw
-- follows from the seed and the ids of lists: the order must not depend on the plan.
create or replace function taskqueue.lock_lists(p_setup text, p_sites text[], p_cpu_times bigint[], p_wait boolean)
returns boolean
language plpgsql as $$
declare
  v_wanted int := (select count(distinct (w.site, w.cpu_time)) from unnest(p_sites, p_cpu_times) w (site, cpu_time));
  v_locked int;
  v_parts int[];
  v_part int;
begin
  loop  -- maintenance may remove an empty list before it is locked here
    v_parts := '{}'::int[];
    for v_part in
      select distinct hashtextextended(w.site, w.cpu_time) & 31 from unnest(p_sites, p_cpu_times) w (site, cpu_time)
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
      select distinct p_setup, w.site, w.cpu_time from unnest(p_sites, p_cpu_times) w (site, cpu_time)
       where hashtextextended(w.site, w.cpu_time) & 31 = any (v_parts)
         and not exists (select from taskqueue.posting_list l
                          where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
       order by 2, 3
      on conflict do nothing;
    end if;
    if p_wait then
      perform from taskqueue.posting_list l
        where l.setup = p_setup
          and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(p_sites, p_cpu_times) w (site, cpu_time))
        order by l.site, l.cpu_time
          for update;
    else
      perform from taskqueue.posting_list l
        where l.setup = p_setup
          and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(p_sites, p_cpu_times) w (site, cpu_time))
          for update skip locked;
    end if;
    get diagnostics v_locked = row_count;
    if v_locked = v_wanted or not p_wait then
      return v_locked = v_wanted;
    end if;
  end loop;
end $$;

comment on function taskqueue.lock_lists(text, text[], bigint[], boolean) is
  'Makes missing posting lists of sites and CPU buckets, and locks all of them; false if another transaction works on '
  'one of them and p_wait is false.';
