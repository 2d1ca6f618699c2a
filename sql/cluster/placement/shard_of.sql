-- PL/Proxy calls this function before each call of a front, so it reads one row by its key.
create or replace function cluster.shard_of(p_setup text) returns setof int
language plpgsql stable security definer set search_path = cluster, pg_temp as $$
begin
  return query
    select s.number from cluster.shard s join cluster.placement p on p.shard = s.shard where p.setup = p_setup;
  if found then
    return;
  elsif p_setup is not null then
    raise exception 'setup % is on no shard', left(p_setup, 100)
      using errcode = 'PB004',
            hint = format('An operator places it: broker cluster place %s SHARD.', left(p_setup, 100));
  end if;
  return query select s.number from cluster.shard s order by s.number;
end $$;

comment on function cluster.shard_of(text) is
  'The partition of PL/Proxy that holds a setup; null = all partitions. Errors: PB004 (the setup is on no shard).';
