create or replace view monitor.credential as
select c.setup, 'credential' as object, c.name, c.kind, c.issuer, c.subject, c.claim, c.value,
       coalesce(c.owner_group, 'claim ' || c.owner_group_claim) as owner_group,
       coalesce(c.owner_dn, 'claim ' || c.owner_dn_claim) as owner_dn, null::int as uses_left,
       null::timestamptz as expires_at
  from resource.credential c
 where (c.setup = (select resource.bound_setup())) is not false
 union all
select s.setup, 'secret', s.stamp, 'agent', null, null, null, null, s.owner_group, s.owner_dn, s.uses_left, s.expires_at
  from resource.pilot_secret s
 where (s.setup = (select resource.bound_setup())) is not false
 union all
select t.setup, 'token', t.name, t.kind, null, null, null, null, t.owner_group, t.owner_dn, null, t.expires_at
  from resource.access_token t
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view monitor.credential is
  'Credentials, secrets of pilots and opaque tokens, which give access through the service (broker serve); no hash is '
  'shown.';
comment on column monitor.credential.object is 'Kind of the row: credential, secret or token.';
comment on column monitor.credential.name is 'Name of the credential or token, or stamp of the secret.';
comment on column monitor.credential.kind is 'Role that the caller acts as: agent, submitter, operator or viewer.';
comment on column monitor.credential.issuer is 'Claim iss of the tokens that fit a credential.';
comment on column monitor.credential.subject is 'Claim sub of the only holder; null = any holder.';
comment on column monitor.credential.claim is 'Claim that has the value; null = any token.';
comment on column monitor.credential.value is 'Value of the claim, or a path below which the value lies.';
comment on column monitor.credential.owner_group is 'Owner group that the caller acts for, or the claim that names it.';
comment on column monitor.credential.owner_dn is 'Owner that the caller acts for, or the claim that names it.';
comment on column monitor.credential.uses_left is 'Number of times that a secret may still be exchanged.';
comment on column monitor.credential.expires_at is 'Time from which the row is refused; null = never.';
