create or replace function resource.setting_hint(p_table regclass, p_key text) returns text
language sql stable as $$
  select format('%s: %s Allowed: %s%s.', a.attname, col_description(p_table, a.attnum),
                case format_type(a.atttypid, null)
                  when 'interval' then 'a text such as "30 minutes", or a number of seconds'
                  when 'boolean' then 'true or false'
                  when 'integer' then 'an integer'
                  when 'double precision' then 'a number'
                  when 'jsonb' then 'an object of texts such as {"site": "CERN"}'
                  when 'text[]' then 'a list of texts'
                  else 'a text' end
                || case when a.attnotnull then '' else ', or null' end,
                (select string_agg(', ' || obj_description(c.oid, 'pg_constraint'), '' order by c.conname)
                   from pg_constraint c
                  where c.conrelid = p_table and c.contype = 'c' and c.conkey = array[a.attnum]))
    from pg_attribute a
   where a.attrelid = p_table and a.attname = p_key
$$;

comment on function resource.setting_hint(regclass, text) is
  'What a setting means and which values are allowed, from the comments of its column and of its checks.';
