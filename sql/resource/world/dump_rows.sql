-- See worlds.md, Dumping. Rows are ordered by bytes, so that a program can merge the rows of several tables.
create or replace function resource.dump_rows(p_setup text, p_table regclass) returns setof jsonb
language plpgsql stable set timezone = 'UTC' as $$
begin
  perform resource.identify(p_setup);
  return query execute (
    select format('select to_jsonb(t) - array[%s] from %s t where t.setup = $1 order by %s', string_agg(
             case when not c.given then quote_literal(c.name)
                  when c.key_place is null or c.default_text is not null
                  then format('case when t.%I is not distinct from %s then %L end', c.name,
                              coalesce(c.default_text, 'null'), c.name) end,
             ', ' order by c.place) || ', ''setup''', p_table,
             string_agg(format('t.%I%s', c.name, case c.type when 'text' then ' collate "C"' else '' end),
                        ', ' order by c.key_place) filter (where c.key_place is not null))
      from resource.table_column(p_table) c)
  using p_setup;
end $$;

comment on function resource.dump_rows(text, regclass) is
  'The rows of a table of a setup as objects, in the order of the key. Columns with their default value are left out, '
  'and times are in UTC. The dump functions of all schemas call it. Errors: PB001, PB002 (setup not granted).';
