-- The view is for operators alone, because it names owners and logins of all setups.
create or replace view monitor.identity as
select i.setup, i.role_name, i.private, i.owner_group, i.owner_dn
  from resource.identity i
 where (i.setup = (select resource.bound_setup())) is not false;

comment on view monitor.identity is
  'Database roles with the setups in which each may act, and for whom; operators and viewers need no row. '
  'resource.set_identity grants, resource.clear_identity revokes. For operators.';
