create or replace function resource.note_shard() returns text
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_kind text := (select i.kind from resource.installation i);
begin
  if v_kind = 'front' then
    raise exception 'this database is a front'
      using errcode = 'PB005', hint = 'A shard is a database of its own: broker db upgrade makes one.';
  end if;
  update resource.installation set kind = 'shard' where kind = 'single';
  return v_kind;
end $$;

comment on function resource.note_shard() is
  'Notes that this database is a shard of a front; broker cluster add-shard calls it. Returns the former kind of the '
  'database: single or shard. Errors: PB005 (the database is a front).';
