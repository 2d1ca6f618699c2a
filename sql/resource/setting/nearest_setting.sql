create or replace function resource.nearest_setting(p_table regclass, p_key text) returns text
language sql stable as $$
  select concat_ws(' ',
           coalesce((select format('The setting belongs to %s.', string_agg(format('%s.set_settings', n.nspname), ', '))
                       from pg_class t
                       join pg_namespace n on n.oid = t.relnamespace
                       join pg_attribute a on a.attrelid = t.oid and a.attname = p_key and a.attnum > 1
                      where t.relname = 'setting' and t.relkind = 'r'
                        and exists (select from pg_proc f where f.pronamespace = n.oid and f.proname = 'set_settings')
                     having count(*) > 0),
                    (select format('The nearest is %s.', c.name)
                       from resource.table_column(p_table) c
                      where resource.similarity(p_key, c.name) > 0.4
                      order by resource.similarity(p_key, c.name) desc, c.name limit 1)),
           (select format('Settings are %s.', string_agg(c.name, ', ' order by c.place))
              from resource.table_column(p_table) c))
$$;

comment on function resource.nearest_setting(regclass, text) is
  'A hint for a key that is not a setting of a table: the set_settings function that knows the key, else the setting '
  'with the most similar name; then all settings of the table.';
