-- Each column of a table of settings is a setting. The default of a column is an expression, such as
-- '00:30:00'::interval; the value is the text within its quotes.
create or replace view resource.setting_column as
select t.oid::regclass as source, a.attname::text as name, a.attnum as place,
       format_type(a.atttypid, null) as type, col_description(a.attrelid, a.attnum) as meaning,
       case a.atttypid when 'text[]'::regtype then to_jsonb(x.value::text[])::text else x.value end as default_value,
       case a.atttypid
         when 'interval'::regtype then 'a text such as "30 minutes", or a number of seconds'
         when 'boolean'::regtype then 'true or false'
         when 'integer'::regtype then 'an integer'
         when 'float8'::regtype then 'a number'
         when 'jsonb'::regtype then 'an object of texts such as {"site": "CERN"}'
         when 'text[]'::regtype then 'a list of texts'
         else 'a text' end
       || case when a.attnotnull then '' else ', or null' end
       || coalesce((select string_agg(', ' || obj_description(c.oid, 'pg_constraint'), '' order by c.conname)
                      from pg_constraint c
                     where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]), '') as allowed
  from pg_class t
  join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attname <> 'setup'
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
 cross join lateral (
   select regexp_replace(pg_get_expr(d.adbin, d.adrelid), E'^''(.*)''::[a-z]+([][]{2})?$', E'\\1') as value) x
 where t.relkind = 'r';

comment on view resource.setting_column is
  'The meaning, the allowed values and the default of each setting: the columns of the tables of settings, with their '
  'types, checks and comments. Select one table (source), since all columns of the database are listed.';
comment on column resource.setting_column.source is 'Table of the setting.';
comment on column resource.setting_column.name is 'Name of the setting.';
comment on column resource.setting_column.place is 'Place among the columns of the table.';
comment on column resource.setting_column.type is 'Type of the column.';
comment on column resource.setting_column.meaning is 'Effect of the setting, and its unit.';
comment on column resource.setting_column.default_value is 'Default as text; null = none.';
comment on column resource.setting_column.allowed is 'Allowed values, in words.';
