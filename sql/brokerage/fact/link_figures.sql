-- network.md, throughput-part. The clock decides at the decision, not at the load: figures of a feed that stopped grow
-- old here, too.
create or replace function brokerage.link_figures(p_setup text)
returns table (src text, dst text, closeness float8, queued float8, queued_express float8, mbps float8)
language sql stable as $$
  select l.src, l.dst, l.closeness,
         case when brokerage.is_current(l.queued_at, (select resource.clock(p_setup)), interval '1 hour')
              then l.queued end,
         case when brokerage.is_current(l.queued_express_at, (select resource.clock(p_setup)), interval '1 hour')
              then l.queued_express end,
         case when brokerage.is_current(l.mbps_at, (select resource.clock(p_setup)), interval '1 hour')
              then coalesce(l.mbps_1h, l.mbps_1d, l.mbps_1w) end
    from resource.link l
   where l.setup = p_setup
$$;

comment on function brokerage.link_figures(text) is
  'The links of a setup with the figures that are not older than an hour by the clock of the setup; others are null.';
