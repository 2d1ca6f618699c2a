create or replace view monitor.shard as
select s.shard, s.number, s.dsn, s.added_at, count(p.setup) as setups
  from cluster.shard s
  left join cluster.placement p on p.shard = s.shard
 where (select resource.bound_setup()) is null  -- a caller through the service sees one setup, and no shards
 group by s.shard;

comment on view monitor.shard is
  'Shards of a front, with the number of setups on each. There is no row in a database that is not a front.';
comment on column monitor.shard.setups is 'Number of setups that are placed on the shard.';
