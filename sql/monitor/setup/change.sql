-- What is of no setup and holds in all of them, operators of every setup see; sessions and tokens they do not.
create or replace view monitor.change as
select c.setup, c.change_id, c.at, c.role_name, c.subject, c.object, c.name, c.before, c.after
  from resource.change c
 where (select resource.bound_setup()) is null or c.setup = (select resource.bound_setup())
    or c.setup is null and c.object in ('profile', 'rule', 'configuration');

comment on view monitor.change is
  'What people changed, the newest last: configuration, credentials, holds, cancelled jobs. For operators. Restrict '
  'the setup; null = a change that holds in every setup.';
