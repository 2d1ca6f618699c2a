-- See conventions.md, Configuration lookup. There is one function for each topic, and the planner inlines them.
create or replace view resource.config_key as
select k.app, k.component, k.key,
       '^' || regexp_replace(k.key, '<[a-z]+>', '.+', 'g') || '$' as pattern,
       k.type, k.default_value, k.unit, k.meaning, k.zero_is_default, k.profiles
  from (select * from resource.keys_of_job_brokerage()
         union all
        select * from resource.keys_of_analysis_brokerage()
         union all
        select * from resource.keys_of_task_brokerage()
         union all
        select * from resource.keys_of_users()
         union all
        select * from resource.keys_of_timeouts()) k;

comment on view resource.config_key is
  'The keys of PanDA''s gdpconfig that rules read, with their defaults; resource.set_config refuses other keys unless '
  'forced.';
comment on column resource.config_key.app is 'Application that reads the key: jedi or pandaserver.';
comment on column resource.config_key.component is 'Component that reads the key.';
comment on column resource.config_key.key is
  'Name of the key; a part in <> is a placeholder for a share, label, workflow or group.';
comment on column resource.config_key.pattern is 'Regular expression that the keys match.';
comment on column resource.config_key.type is 'Type of the value: number, text or boolean.';
comment on column resource.config_key.default_value is 'Value that holds if none is set; null = no default.';
comment on column resource.config_key.unit is 'Unit of the value.';
comment on column resource.config_key.meaning is 'Meaning of the key.';
comment on column resource.config_key.zero_is_default is 'Whether a value of 0 counts as not set, as in PanDA''s code.';
comment on column resource.config_key.profiles is 'Profiles that read the key.';
