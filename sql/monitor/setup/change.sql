-- Operators of every setup see changes that belong to no setup and hold in all of them, except those of sessions and
-- tokens.
create or replace view monitor.change as
select c.setup, c.change_id, c.at, c.role_name, c.subject, c.object, c.name, c.before, c.after
  from resource.change c
 where (select resource.bound_setup()) is null or c.setup = (select resource.bound_setup())
    or c.setup is null and c.object in ('profile', 'rule', 'configuration');

comment on view monitor.change is
  'Changes that people made, the newest last: configuration, credentials, holds, cancelled jobs. For operators. '
  'Restrict the setup; null = a change that holds in every setup.';
