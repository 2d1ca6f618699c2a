-- psql lists hundreds of functions of these schemas; roles may call few of them. A function that any role may call for
-- a view or a rule is not listed: PUBLIC has no right to execute one of them by itself.
create or replace view monitor.public_function as
select n.nspname::text as schema, p.proname::text as name,
       case p.prokind when 'p' then 'procedure' else 'function' end as kind,
       array(select i.kind
               from aclexplode(p.proacl) a
               join pg_roles g on g.oid = a.grantee
               join resource.installation_role i on i.role_name = g.rolname
              where a.privilege_type = 'EXECUTE' and i.kind <> 'owner'
              order by 1) as roles,
       pg_get_function_identity_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result,
       split_part(obj_description(p.oid, 'pg_proc'), '. ', 1) as meaning
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
 where n.nspname::text in (select s.schema from resource.program_schema s)
   and exists (select from aclexplode(p.proacl) a where a.grantee not in (0, p.proowner));

comment on view monitor.public_function is
  'Functions and procedures that logins may call, by the roles that may: all others are inner ones. sql/roles.sql '
  'grants them.';
comment on column monitor.public_function.roles is
  'Roles that may call it: agent, submitter, operator, viewer, service.';
comment on column monitor.public_function.arguments is 'Arguments with their types.';
comment on column monitor.public_function.result is 'Type of the result; null for a procedure.';
comment on column monitor.public_function.meaning is 'First sentence of its comment.';
comment on column monitor.public_function.schema is 'Schema.';
comment on column monitor.public_function.name is 'Name.';
comment on column monitor.public_function.kind is 'Kind: function or procedure.';
