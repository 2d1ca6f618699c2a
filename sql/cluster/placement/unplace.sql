create or replace function cluster.unplace(p_setup text) returns boolean
language plpgsql security definer set search_path = cluster, pg_temp as $$
begin
  perform cluster.require_front();
  delete from cluster.placement p where p.setup = p_setup;
  return found;
end $$;

comment on function cluster.unplace(text) is
  'Forgets the shard of a setup that was removed; false: it had none. A setup that still has rows is found by nobody '
  'until it is placed there again. Errors: PB005 (this database is no front).';
