-- The steps of lifecycle.watch, as questions: a setup for which all answers are no needs no call. The questions are
-- wider than their steps; a full round looks at each setup that has jobs of tasks, for their timeouts. Each is an index
-- scan in the setup that ends at the first row. Without `enable_seqscan = off` it would read the rows of other setups:
-- the planner believes that each setup holds the whole table (baseline of taskqueue). The order is random, so that no
-- setup is always the last.
create or replace function lifecycle.setups_due(p_often boolean default false) returns setof text
language sql volatile security definer set search_path = lifecycle, pg_temp set jit = off set enable_seqscan = off
set enable_material = off as $$
  select t.setup
    from resource.setup_time t
    left join taskqueue.setting s on s.setup = t.setup
   where t.setup in (select w from lifecycle.setups() w)
     and (t.setup = (select resource.bound_setup())) is not false
     and (
       (select true from taskqueue.lease l
         where l.setup = t.setup and l.state = 'matched' and l.matched_at < t.now - s.lease_time
           and l.expires_at < t.now limit 1)
       or (select true from taskqueue.lease l
            where l.setup = t.setup and l.state = 'running' and l.expires_at < t.now and not l.brokered limit 1)
       or (select true from workload.job j where j.setup = t.setup and j.retry_at <= t.now limit 1)
       or (select true from workload.failed_part p where p.setup = t.setup and p.less_input limit 1)
       or t.setup in (select h.setup from workload.job_change h)
       or (select true from workload.task_count c
            where c.setup = t.setup and c.status in ('defined', 'assigned') and c.jobs > 0 limit 1)
       or (select true from workload.job j
            where j.setup = t.setup and j.task_id is null and j.ended is null and j.status in ('defined', 'assigned')
            limit 1)
       or p_often is not true and (
         (select true from workload.job j where j.setup = t.setup limit 1)
         or (select true from resource.share h where h.setup = t.setup limit 1)
         or s.shares = 'global'))
   order by random()
$$;

comment on function lifecycle.setups_due(boolean) is
  'Setups for which lifecycle.watch, with the same p_often, may have work, in random order. A scheduler calls '
  'lifecycle.watch for each of them.';
