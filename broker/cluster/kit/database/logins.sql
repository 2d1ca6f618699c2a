-- The logins of the service, the loops and dashboards. Run this file again after a change of a password.
-- psql -v folder=FOLDER -f logins.sql, where FOLDER is the one of make-secrets.sh.
\set ON_ERROR_STOP on
\set serve_password `cat :'folder'/serve_password`
\set run_password `cat :'folder'/run_password`
\set view_password `cat :'folder'/view_password`

select format('create role %I login', n.name)
  from (values ('pgbroker_run'), ('pgbroker_view')) n (name)
 where not exists (select from pg_roles r where r.rolname = n.name)
\gexec
alter role broker_service login password :'serve_password';
alter role pgbroker_run password :'run_password';
alter role pgbroker_view password :'view_password';
grant broker_operator to pgbroker_run;
grant broker_viewer to pgbroker_view;

-- A login of another database could hold the locks of a setup.
select format('revoke connect on database %I from public', current_database()) \gexec
select format('grant connect on database %I to broker_agent, broker_submitter, broker_operator, broker_viewer, '
              'broker_service', current_database()) \gexec
