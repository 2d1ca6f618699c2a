-- Brokerage reads this usage of shares (share-throttle), and with taskqueue.setting.shares = global, dispatch follows
-- it. Figures of a world whose jobs are elsewhere stay as they were loaded. PanDA's metrics: usage is running /
-- pledged. The equivalent usage of a top share divides running by its target plus its part of the work that idle top
-- shares leave (idle: usage below 85 % with too little queued). The shares below have that of their top share. As in
-- PanDA, busy shares get 1 HS06 more, to avoid a division by 0.
create or replace function lifecycle.measure_shares(p_setup text) returns bigint
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_measured bigint;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform from resource.share s where s.setup = p_setup order by s.gshare for update;
  with tree as materialized (
    select t.* from lifecycle.share_tree(p_setup) t where t.source = 'jobs'
  ), top as (
    select t.gshare, t.running, t.pledged, t.usage, p.projected, t.usage < 0.85 and p.projected < t.pledged as idle
      from tree t cross join lateral (select least(t.pledged, greatest(t.running, t.queued / 2)) as projected) p
     where t.depth = 1
  ), spare as (
    select sum(o.pledged - o.projected) as hs06, coalesce(sum(o.pledged) filter (where not o.idle), 0) + 1 as busy
      from top o
  ), equivalent as (
    select o.gshare,
           case when o.idle or o.usage in (0, 999999) then o.usage
                else o.running / (o.pledged + s.hs06 * o.pledged / s.busy) end as usage
      from top o cross join spare s
  )
  update resource.share s
     set running = t.running, queued = t.queued, usage_percent = t.usage, equivalent_usage_percent = e.usage,
         measured = resource.clock(p_setup)
    from tree t join equivalent e on e.gshare = t.path[1]
   where s.setup = p_setup and s.gshare = t.gshare;
  get diagnostics v_measured = row_count;
  perform taskqueue.mark_shares(p_setup);
  return v_measured;
end $$;

comment on function lifecycle.measure_shares(text) is
  'Writes the running and waiting work of the global shares into resource.share, if brokerage makes jobs here, and '
  'gives new priorities to groups whose global share moved. Returns how many shares were measured. Errors: PB001, '
  'PB002 (setup not granted).';
