-- Views about the database itself read these schemas.
create or replace view resource.program_schema as
select s.schema
  from unnest('{alert,brokerage,cluster,history,instance,lifecycle,resource,taskqueue,workload}'::text[]) s (schema);

comment on view resource.program_schema is 'The schemas with tables and functions of the program: all but monitor.';
comment on column resource.program_schema.schema is 'Schema.';
