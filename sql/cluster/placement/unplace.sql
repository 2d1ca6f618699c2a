create or replace function cluster.unplace(p_setup text) returns boolean
language plpgsql security definer set search_path = cluster, pg_temp as $$
begin
  perform cluster.require_front();
  delete from cluster.placement p where p.setup = p_setup;
  return found;
end $$;

comment on function cluster.unplace(text) is
  'Deletes the placement of a setup that was removed; returns false if there was none. A setup that still has rows '
  'cannot be found until it is placed there again. Errors: PB005 (this database is not a front).';
