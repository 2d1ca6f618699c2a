-- See SERVICE.md, Credentials. The most specific credential counts: a subject is more specific than a claim, and a
-- longer path is more specific than a shorter one. If two credentials fit equally, chance would decide, so the token is
-- refused.
create or replace function resource.credential_of(
  p_setup text, p_claims jsonb, out kind text, out name text, out owner_group text, out owner_dn text,
  out message text, out hint text
)
language plpgsql stable as $$
declare
  v_credential resource.credential;
  v_names text[];
begin
  name := concat_ws(' ', p_claims ->> 'iss', p_claims ->> 'sub');
  if resource.claim_text(p_claims, 'sub') is null then
    message := format('the token of %s names no subject', resource.shown(p_claims -> 'iss'));
    hint := 'Its claim sub must be a text.';
    return;
  end if;
  v_names := array(
    select f.name
      from (select c.name,
                   rank() over (order by c.subject is null, c.claim is null,
                                         cardinality(string_to_array(trim('/' from c.value), '/')) desc) as place
              from resource.credential c
             where c.setup = p_setup and c.issuer = p_claims ->> 'iss'
               and coalesce(c.subject = p_claims ->> 'sub', c.subject is null)
               and (c.claim is null or resource.claim_fits(p_claims, c.claim, c.value))) f
     where f.place = 1 order by f.name);
  if v_names = '{}' then
    message := format('no credential of setup %s fits the token of %s', p_setup, resource.shown(to_jsonb(name)));
    hint := 'An operator can add a credential: broker credential set.';
    return;
  elsif cardinality(v_names) > 1 then
    message := format('several credentials of setup %s fit the token of %s equally: %s', p_setup,
                      resource.shown(to_jsonb(name)), array_to_string(v_names, ', '));
    hint := 'An operator can add a credential for the token''s subject, or clear all but one.';
    return;
  end if;
  select c.* into v_credential from resource.credential c where c.setup = p_setup and c.name = v_names[1];
  owner_group := coalesce(v_credential.owner_group, resource.claim_text(p_claims, v_credential.owner_group_claim));
  owner_dn := coalesce(v_credential.owner_dn, resource.claim_text(p_claims, v_credential.owner_dn_claim));
  if v_credential.owner_group_claim is not null and owner_group is null
     or v_credential.owner_dn_claim is not null and owner_dn is null then
    message := format('the token of %s does not name the owner or owner group of the credential %s',
                      resource.shown(to_jsonb(name)), v_names[1]);
    hint := format('Its claim %s must be a text.', concat_ws(' or ', v_credential.owner_group_claim,
                                                              v_credential.owner_dn_claim));
    return;
  end if;
  kind := v_credential.kind;
end $$;

comment on function resource.credential_of(text, jsonb) is
  'The role that the holder of a verified token has in a setup: its kind, its name, and the owner and group that it '
  'acts for. If the token is refused, kind is null, and message and hint say why.';
