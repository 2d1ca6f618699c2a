-- Shares with their present use. If brokerage made jobs here (ids from 10^12 on), these jobs and the counts of other
-- systems (workload.statistic) give the running and waiting work; otherwise the loaded figures of the setup's shares
-- count. Jobs that an agent has taken count as running (PanDA counts sent and running; here a starting job also has a
-- slot), activated jobs count as queued, and all others do not count. HS06 are cores times the queue's corepower, or 10
-- if it has none.
create or replace function lifecycle.current_shares(p_setup text) returns table (share resource.share, counted boolean)
language plpgsql stable as $$
declare
  v_share resource.share;
begin
  if not exists (select from workload.job j where j.setup = p_setup and j.job_id >= 1000000000000) then
    return query select s, false from resource.share s where s.setup = p_setup;
    return;
  end if;
  counted := true;
  for v_share.gshare, v_share.parent, v_share.target, v_share.running, v_share.queued in
    select s.gshare, s.parent, s.target, coalesce(u.running, 0), coalesce(u.queued, 0)
      from resource.share s
      left join (select n.gshare,
                        sum(n.hs06) filter (where n.status <> 'activated') as running,
                        sum(n.hs06) filter (where n.status = 'activated') as queued
                   from (select c.gshare, c.status,
                                coalesce(c.ncores, c.njobs) * coalesce(nullif(q.corepower, 0), 10) as hs06
                           from workload.job_statistic c
                           left join resource.queue q on q.setup = p_setup and q.queue = c.queue
                          where c.setup = p_setup and c.status in ('activated', 'sent', 'starting', 'running')) n
                  group by n.gshare) u on u.gshare = s.gshare
     where s.setup = p_setup
  loop
    v_share.setup := p_setup;
    share := v_share;
    return next;
  end loop;
end $$;

comment on function lifecycle.current_shares(text) is
  'The shares of a setup with their running and waiting work (HS06). If brokerage makes jobs here (counted), the work '
  'comes from these jobs and the counts of other systems, otherwise from the loaded figures.';
