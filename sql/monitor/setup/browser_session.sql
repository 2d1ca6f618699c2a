-- A session of a person is for every setup that a credential gives; a row for each.
create or replace view monitor.browser_session as
select coalesce(s.setup, c.setup) as setup, s.subject, coalesce(s.kind, c.kind) as kind, s.opened_at, s.expires_at
  from resource.browser_session s
  left join lateral resource.setups_of_claims(s.claims) c on true
 where s.expires_at > now()
   and ((select resource.bound_setup()) is null or coalesce(s.setup, c.setup) = (select resource.bound_setup()));

comment on view monitor.browser_session is
  'Whose browser is logged in to the service (broker serve), in which setups, and as what; no hash is shown.';
comment on column monitor.browser_session.setup is
  'Setup in which the person may act now; null = in none, since its credentials were cleared.';
comment on column monitor.browser_session.subject is
  'Issuer and subject of the login, or browser and the name of the ticket of broker serve --open.';
comment on column monitor.browser_session.kind is 'agent, submitter, operator or viewer: the role in that setup.';
comment on column monitor.browser_session.opened_at is 'When the person logged in.';
comment on column monitor.browser_session.expires_at is 'From then on it is refused.';
