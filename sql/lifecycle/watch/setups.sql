-- A watcher watches one setup or all. A setup that is leaving the shard is still tried, since the process that was
-- moving it may have died.
create or replace function lifecycle.setups(p_setup text default null) returns setof text
language plpgsql stable security definer set search_path = lifecycle, pg_temp as $$
begin
  if p_setup is not null then
    perform resource.identify(p_setup);
    perform resource.require_known_setup(p_setup);
  end if;
  return query
    select s.setup from resource.setup s
     where (p_setup is null or s.setup = p_setup)
       and not exists (select from resource.setup_move m where m.setup = s.setup and m.state <> 'leaving')
     order by s.setup;
end $$;

comment on function lifecycle.setups(text) is
  'Setups to watch: the given one, or all of this shard. Errors: PB001 (there is no such setup), PB002 (setup not '
  'granted).';
