create or replace function cluster.ways_of(p_setups text[]) returns table (setup text, shard text, dsn text)
language sql stable security definer set search_path = cluster, pg_temp as $$
  select a.setup, s.shard, s.dsn
    from resource.installation i
   cross join unnest(p_setups) a(setup)
    left join cluster.placement p on p.setup = a.setup
    left join cluster.shard s on s.shard = p.shard
   where i.kind = 'front'
$$;

comment on function cluster.ways_of(text[]) is
  'For the service: the shards of setups and their DSNs, without a login; null = the setup is on no shard. There is no '
  'row if this database is not a front.';
