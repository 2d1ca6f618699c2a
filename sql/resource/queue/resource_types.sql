-- Agents that ask in the terms of PanDA need this function because they may not read the view.
create or replace function resource.resource_types(p_setup text)
returns table (resource_name text, mincore int, maxcore int, minrampercore int, maxrampercore int)
language plpgsql stable security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify(p_setup);
  return query
    select r.name, r.mincore, r.maxcore, r.minrampercore, r.maxrampercore
      from resource.resource_type_in_force r
     where r.setup = p_setup
     order by r.name;
end $$;

comment on function resource.resource_types(text) is
  'The resource types of a setup for agents, with their bounds: cores, and MB per core; null = no bound. '
  'Errors: PB002 (setup not granted).';
