-- See SERVICE.md, Opaque tokens.
create or replace function resource.make_token(
  p_setup text, p_name text, p_kind text, p_valid interval default '12 hours', p_owner_group text default null,
  p_owner_dn text default null
) returns table (token text, expires_at timestamptz)
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_row resource.access_token;
begin
  perform resource.require_holder(p_setup, 'token', p_name, p_kind, coalesce(p_owner_group, p_owner_dn) is not null);
  perform resource.require_short('owner group', p_owner_group), resource.require_short('owner', p_owner_dn);
  token := resource.new_secret();
  expires_at := resource.valid_until('the token', p_valid);
  delete from resource.access_token t where t.expires_at < now();
  insert into resource.access_token as t
  values (sha256(convert_to(token, 'UTF8')), p_setup, p_name, p_kind, nullif(p_owner_group, ''), nullif(p_owner_dn, ''),
          null, make_token.expires_at)
  returning t.* into v_row;
  perform resource.note_change(p_setup, 'token', p_name, null, to_jsonb(v_row) - 'hash');
  return next;
end $$;

comment on function resource.make_token(text, text, text, interval, text, text) is
  'Makes an opaque token for the service (broker serve): its holder acts in the setup as agent, submitter, operator or '
  'viewer, for the owner and group given. The token is shown only this once. Errors: PB001 (name, kind, validity), '
  'PB002.';
