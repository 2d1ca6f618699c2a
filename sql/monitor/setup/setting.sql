-- The view has the settings of all schemas in one list. Values that nobody changed are in the views of brokerage and
-- lifecycle; in the other schemas they are the defaults of the columns.
create or replace view monitor.setting as
select p.setup, t.schema, c.name,
       case when v.settings is null then c.default_value
            -- stored as 72:00:00 (resource.setting_value), shown as 3 days
            when c.type = 'interval' then justify_hours((v.settings ->> c.name)::interval)::text
            else v.settings ->> c.name end as value,
       coalesce(col_description(t.shown, m.attnum), c.meaning) as meaning, c.default_value, c.type, c.allowed
  from resource.setup p
 cross join (values ('taskqueue', 'taskqueue.setting'::regclass, null::regclass),
                    ('instance', 'instance.setting', null),
                    ('brokerage', 'brokerage.setting', 'brokerage.setting_in_force'),
                    ('lifecycle', 'lifecycle.setting', 'lifecycle.setting_in_force')) t (schema, source, shown)
 cross join lateral (
   select case t.schema
            when 'taskqueue' then (select to_jsonb(s) from taskqueue.setting s where s.setup = p.setup)
            when 'instance' then (select to_jsonb(s) from instance.setting s where s.setup = p.setup)
            when 'brokerage' then (select to_jsonb(s) from brokerage.setting_in_force s where s.setup = p.setup)
            else (select to_jsonb(s) from lifecycle.setting_in_force s where s.setup = p.setup) end as settings) v
  join resource.setting_column c on c.source = t.source
  left join pg_catalog.pg_attribute m on m.attrelid = t.shown and m.attname = c.name
 where (p.setup = (select resource.bound_setup())) is not false;

comment on view monitor.setting is
  'Settings of each setup in all schemas; the function set_settings of the schema changes them.';
comment on column monitor.setting.schema is 'Schema: taskqueue, brokerage, lifecycle or instance.';
comment on column monitor.setting.name is 'Name of the setting.';
comment on column monitor.setting.value is 'Value as text; null = no limit, or the default that the meaning names.';
comment on column monitor.setting.meaning is 'Effect of the setting, and its unit.';
comment on column monitor.setting.default_value is 'Value if nobody set one; null = none.';
comment on column monitor.setting.type is 'Type of the value.';
comment on column monitor.setting.allowed is 'Allowed values, in words.';
