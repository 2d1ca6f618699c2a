create or replace function cluster.shard_dsn(p_setup text) returns table (shard text, dsn text)
language plpgsql stable security definer set search_path = cluster, pg_temp as $$
begin
  if (select i.kind from resource.installation i) <> 'front' then
    return;
  end if;
  return query
    select s.shard, s.dsn from cluster.shard s
     where p_setup is null or s.shard = (select p.shard from cluster.placement p where p.setup = p_setup)
     order by s.number;
  if not found and p_setup is not null then
    perform cluster.shard_of(p_setup);
  end if;
end $$;

comment on function cluster.shard_dsn(text) is
  'The shard of a setup and its DSN, without a login; null = all shards. There is no row if this database is not a '
  'front. A program that needs more than one statement in a transaction connects to the shard. Errors: PB004 (no '
  'shard).';
