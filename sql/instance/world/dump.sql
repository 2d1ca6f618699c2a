-- The dump leaves out the used cores and memory, and faults, since they follow from the steps.
create or replace function instance.dump(p_setup text, p_table text) returns setof jsonb
language sql stable security definer set search_path = instance, pg_temp as $$
  select d - '{used_cpu,used_ram,fault}'::text[] from resource.dump_rows(p_setup, instance.world_table(p_table)) d
$$;

comment on function instance.dump(text, text) is
  'The rows of a table of the schema instance as objects, in the order of the key and without defaults, as '
  'instance.store takes them. Errors: PB001 (no such table), PB002 (setup not granted).';
