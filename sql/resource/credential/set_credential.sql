-- See SERVICE.md, Credentials.
create or replace function resource.set_credential(
  p_setup text, p_name text, p_kind text, p_issuer text, p_subject text default null, p_claim text default null,
  p_value text default null, p_owner_group text default null, p_owner_dn text default null,
  p_owner_group_claim text default null, p_owner_dn_claim text default null
) returns void
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_before jsonb;
  v_other text;
  v_text record;
  v_value text := case when p_value ~ '[^/]' then rtrim(p_value, '/') else p_value end;
begin
  perform resource.require_holder(
    p_setup, 'credential', p_name, p_kind,
    coalesce(p_owner_group, p_owner_dn, p_owner_group_claim, p_owner_dn_claim) is not null);
  for v_text in
    select t.* from (values ('issuer', p_issuer), ('subject', p_subject), ('claim', p_claim), ('value', p_value),
                            ('owner group', p_owner_group), ('owner', p_owner_dn),
                            ('claim of the owner group', p_owner_group_claim),
                            ('claim of the owner', p_owner_dn_claim)) t(what, value)
     where t.value is not null or t.what = 'issuer'
  loop
    if v_text.value is null or v_text.value = '' then
      raise exception '% of the credential % is %', v_text.what, p_name, coalesce(quote_literal(v_text.value), 'null')
        using errcode = 'PB001', hint = 'Give a text, or leave it out where it may be null.';
    end if;
    perform resource.require_short(v_text.what, v_text.value, 1000);
  end loop;
  if (p_claim is null) <> (p_value is null) then
    raise exception 'claim of the credential % is % and its value is %', p_name, coalesce(p_claim, 'not given'),
          coalesce(p_value, 'not given')
      using errcode = 'PB001', hint = 'Give both, or neither: any token of the issuer then fits.';
  end if;
  if p_owner_group is not null and p_owner_group_claim is not null
     or p_owner_dn is not null and p_owner_dn_claim is not null then
    raise exception 'the credential % names an owner or owner group, and a claim that names it', p_name
      using errcode = 'PB001', hint = 'Give one of the two.';
  end if;
  -- the second of two calls for the same tokens waits and finds the row of the first
  perform pg_advisory_xact_lock(hashtext('resource.credential'), hashtext(p_setup));
  select c.name into v_other
    from resource.credential c
   where c.setup = p_setup and c.issuer = p_issuer and c.subject is not distinct from p_subject
     and c.claim is not distinct from p_claim and c.value is not distinct from v_value and c.name <> p_name;
  if found then
    raise exception 'the credential % is for the same tokens as %', p_name, v_other
      using errcode = 'PB001', hint = format('Change %s, or clear it first.', v_other);
  end if;
  select to_jsonb(c) into v_before from resource.credential c where c.setup = p_setup and c.name = p_name;
  insert into resource.credential
  values (p_setup, p_name, p_issuer, p_subject, p_claim, v_value, p_kind, p_owner_group, p_owner_dn,
          p_owner_group_claim, p_owner_dn_claim)
  on conflict (setup, name) do update
     set issuer = excluded.issuer, subject = excluded.subject, claim = excluded.claim, value = excluded.value,
         kind = excluded.kind, owner_group = excluded.owner_group, owner_dn = excluded.owner_dn,
         owner_group_claim = excluded.owner_group_claim, owner_dn_claim = excluded.owner_dn_claim;
  perform resource.note_change(p_setup, 'credential', p_name, v_before, to_jsonb(c))
     from resource.credential c where c.setup = p_setup and c.name = p_name;
end $$;

comment on function resource.set_credential(
  text, text, text, text, text, text, text, text, text, text, text) is
  'Lets holders of an issuer''s tokens use a setup through the service (broker serve), as agent, submitter, operator '
  'or viewer; replaces the credential of that name. p_subject: only the holder with this claim sub. p_claim, p_value: '
  'only tokens whose claim has the value, or a path below it. The owner and group that the holders act for are either '
  'given or named by claims. Errors: PB001, PB002.';
