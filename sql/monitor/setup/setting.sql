-- The settings of all schemas in one list, each with its meaning: the comment of its column.
create or replace view monitor.setting as
select v.setup, v.schema, e.key as name, e.value #>> '{}' as value, col_description(a.attrelid, a.attnum) as meaning
  from (
    select s.setup, 'taskqueue' as schema, 'taskqueue.setting'::regclass as source, to_jsonb(s) as settings
      from taskqueue.setting s
     union all
    select s.setup, 'instance', 'instance.setting'::regclass, to_jsonb(s)
      from instance.setting s
     union all
    select s.setup, 'brokerage', 'brokerage.setting_in_force'::regclass, to_jsonb(s)
      from brokerage.setting_in_force s
     union all
    select s.setup, 'lifecycle', 'lifecycle.setting_in_force'::regclass, to_jsonb(s)
      from lifecycle.setting_in_force s) v
 cross join lateral jsonb_each(v.settings - 'setup') e
  join pg_catalog.pg_attribute a on a.attrelid = v.source and a.attname = e.key
 where (v.setup = (select resource.bound_setup())) is not false;

comment on view monitor.setting is
  'Settings of each setup in all schemas; the function set_settings of the schema changes them. Settings of taskqueue '
  'and instance are listed once something was inserted or set there.';
comment on column monitor.setting.schema is 'Schema: taskqueue, brokerage, lifecycle or instance.';
comment on column monitor.setting.name is 'Name of the setting.';
comment on column monitor.setting.value is 'Value as text; null = no limit.';
comment on column monitor.setting.meaning is 'What the setting does, and its unit.';
