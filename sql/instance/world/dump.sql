-- World format: the rows of a table of this room as instance.store takes them.
create or replace function instance.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = instance, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  -- what is used follows from the jobs
  return query
  select d - '{used_cpu,used_ram}'::text[]
    from resource.dump_rows(p_setup, instance.world_table(p_table)) d;
end $$;

comment on function instance.dump(text, text) is
  'The rows of a table of the room instance as objects, in key order and without defaults; what instance.store takes. '
  'Errors: PB001, PB002 (setup not granted).';
