-- Every table of a setup refers to resource.setup, so a front without rows there cannot store anything by mistake.
create or replace function resource.refuse_setup() returns trigger
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  if (select i.kind from resource.installation i) = 'front' then
    raise exception 'this database is a front: setup % is on a shard', new.setup
      using errcode = 'PB005',
            hint = 'Call public functions here, or connect to the shard (broker cluster status).';
  end if;
  if exists (select from resource.setup_move m where m.setup = new.setup) then
    perform resource.require_here(new.setup);
  end if;
  return new;
end $$;

comment on function resource.refuse_setup() is
  'Refuses setups in a front, and refuses a moved setup in the shard that it left. Errors: PB005 (this database is a '
  'front), PB006 (the setup has moved).';
