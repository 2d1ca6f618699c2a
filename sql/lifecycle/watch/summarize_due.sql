-- The questions are those of lifecycle.setups_due: whether jobs wait, or waited at the last count, and whether tasks
-- were decided. A setup without both is counted every four minutes, since a count of five minutes ago is out of date
-- (history.freshness).
create or replace function lifecycle.summarize_due() returns setof text
language sql volatile security definer set search_path = lifecycle, pg_temp set jit = off set enable_seqscan = off
set enable_material = off as $$
  select t.setup
    from resource.setup_time t
    left join taskqueue.summary c on c.setup = t.setup
   where (t.setup = (select resource.bound_setup())) is not false
     and ((c.counted_at between t.now - interval '4 minutes' and t.now) is not true
          or (select true from taskqueue.task_queue q where q.setup = t.setup limit 1)
          or (select true from taskqueue.waiting_summary w where w.setup = t.setup limit 1)
          or (select true from taskqueue.waiting_site_summary w where w.setup = t.setup limit 1)
          or (select true from taskqueue.waiting_reason r where r.setup = t.setup limit 1)
          or (select true from brokerage.task_state s where s.setup = t.setup limit 1)
          or (select true from brokerage.waiting_reason r where r.setup = t.setup limit 1))
   order by c.counted_at nulls first, random()
$$;

comment on function lifecycle.summarize_due() is
  'Setups in which the loop summarize of `broker run` may have work, the oldest count first. A scheduler calls '
  'taskqueue.find_reasons, brokerage.find_reasons and taskqueue.summarize_waiting for each of them.';
