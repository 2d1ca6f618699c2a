-- The view calls no function, since viewers read it. A simulated setup needs no loop: its simulation does the work.
-- The first row of a setup is looked up by an index, which `order by` asks for. `exists` reads the table up to this
-- row, since the planner believes that each setup holds the whole table (baseline of taskqueue): four seconds with
-- 3,000 setups.
create or replace view lifecycle.needed_loop as
select s.setup, n.name
  from lifecycle.setting_in_force s
  join resource.setup p on p.setup = s.setup
 cross join lateral (
   select l.name
     from unnest(s.loops) l (name)
   union
   select d.name
     from unnest('{maintain,watchdog}'::text[]) d (name)
    where s.loops is null and p.simulated is null
      and ((select true from taskqueue.job j where j.setup = s.setup order by j.job_id limit 1)
           or (select true from taskqueue.lease l where l.setup = s.setup order by l.job_id limit 1)
           or (select true from workload.job j where j.setup = s.setup and j.ended is null
                order by j.task_id, j.queue limit 1)
           or (select true from workload.job j where j.setup = s.setup and j.retry_at is not null
                order by j.retry_at limit 1))
   union
   select 'guard'
     from taskqueue.setting t
    where s.loops is null and p.simulated is null and t.setup = s.setup
      and (t.guard = 'on' or exists (select from taskqueue.quarantine q where q.setup = s.setup and q.locks))
   union
   select l.name
     from lifecycle.loop l
    where s.loops is null and p.simulated is null and l.setup = s.setup
   union
   select l.name
     from lifecycle.loop l
    where s.loops is null and p.simulated is null and l.setup is null) n;

comment on view lifecycle.needed_loop is
  'Loops of `broker run` that each setup needs: those of its setting loops. Without that setting, it needs maintain '
  'and watchdog while it has jobs that wait, are leased, have not ended or are to be tried again, guard with the '
  'setting guard = on or a quarantine, and every loop that once ran for it or for all setups.';
comment on column lifecycle.needed_loop.name is 'Name of the loop.';
