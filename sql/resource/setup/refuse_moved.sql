-- A call that only reads does not identify its caller, so without this check it would find no rows for a setup that has
-- moved away or has not arrived yet.
create or replace function resource.refuse_moved(p_setup text) returns void
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  if exists (select from resource.setup_move m where m.setup = p_setup and m.state <> 'leaving') then
    perform resource.require_here(p_setup);
  end if;
end $$;

comment on function resource.refuse_moved(text) is
  'For the service: refuses a setup that has moved to another shard, or is arriving from one. A setup that is leaving '
  'may still be read. Errors: PB006.';
