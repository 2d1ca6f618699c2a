-- The view calls no function, since viewers read it. A simulated setup needs no loop: its simulation does the work.
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
      and (exists (select from taskqueue.job j where j.setup = s.setup)
           or exists (select from taskqueue.lease l where l.setup = s.setup)
           or exists (select from workload.job j where j.setup = s.setup and j.ended is null)
           or exists (select from workload.job j where j.setup = s.setup and j.retry_at is not null))
   union
   select 'guard'
     from taskqueue.setting t
    where s.loops is null and p.simulated is null and t.setup = s.setup
      and (t.guard = 'on' or exists (select from taskqueue.quarantine q where q.setup = s.setup and q.locks))
   union
   select l.name
     from lifecycle.loop l
    where s.loops is null and p.simulated is null and (l.setup = s.setup or l.setup is null)) n;

comment on view lifecycle.needed_loop is
  'Loops of `broker run` that each setup needs: those of its setting loops. Without that setting, it needs maintain '
  'and watchdog while it has jobs that wait, are leased, have not ended or are to be tried again, guard with the '
  'setting guard = on or a quarantine, and every loop that once ran for it or for all setups.';
comment on column lifecycle.needed_loop.name is 'Name of the loop.';
