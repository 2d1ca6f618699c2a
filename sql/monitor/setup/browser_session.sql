-- A session covers every setup to which a credential of the person gives access; the view has one row for each setup.
create or replace view monitor.browser_session as
select c.setup, s.subject, c.kind, s.opened_at, s.expires_at
  from resource.browser_session s
  left join lateral (select * from resource.setups_of_claims(s.claims)
                      union all
                     select t.setup, s.kind from resource.setup t
                      where s.kind is not null and (s.setup is null or t.setup = s.setup)) c on true
 where s.expires_at > now()
   and ((select resource.bound_setup()) is null or c.setup = (select resource.bound_setup()));

comment on view monitor.browser_session is
  'Sessions of browsers that are logged in to the service (broker serve), with the setups and roles of each; no hash '
  'is shown.';
comment on column monitor.browser_session.setup is
  'Setup in which the person may act now; null = no setup, because the credentials of the person were cleared.';
comment on column monitor.browser_session.subject is
  'Issuer and subject of the login, or browser and the name of the ticket of broker serve --open.';
comment on column monitor.browser_session.kind is 'Role in that setup: agent, submitter, operator or viewer.';
comment on column monitor.browser_session.opened_at is 'When the person logged in.';
comment on column monitor.browser_session.expires_at is 'Time from which the session is refused.';
