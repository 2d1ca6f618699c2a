-- See SERVICE.md, Pilot secrets.
create or replace function resource.make_secret(
  p_setup text, p_stamp text, p_uses int default 1, p_valid interval default '1 day', p_owner_group text default null,
  p_owner_dn text default null
) returns table (secret text, expires_at timestamptz)
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_row resource.pilot_secret;
  v_before resource.pilot_secret;
begin
  perform resource.require_holder(p_setup, 'pilot secret', p_stamp, 'agent', true);
  perform resource.require_short('owner group', p_owner_group), resource.require_short('owner', p_owner_dn);
  if p_uses is null or p_uses not between 1 and 1000000 then
    raise exception 'the secret of % may be used % times', p_stamp, coalesce(p_uses::text, 'null')
      using errcode = 'PB001', hint = 'Give 1 to 1000000 uses.';
  end if;
  secret := resource.new_secret();
  expires_at := resource.valid_until('the secret', p_valid);
  -- the second of two calls for one stamp replaces the secret of the first
  perform pg_advisory_xact_lock(hashtext('resource.credential'), hashtext(p_setup));
  delete from resource.pilot_secret s where s.setup = p_setup and s.stamp = p_stamp returning s.* into v_before;
  insert into resource.pilot_secret as s
  values (p_setup, p_stamp, sha256(convert_to(secret, 'UTF8')), nullif(p_owner_group, ''), nullif(p_owner_dn, ''),
          p_uses, make_secret.expires_at)
  returning s.* into v_row;
  perform resource.note_change(p_setup, 'pilot secret', p_stamp,
                                   case when v_before.stamp is not null then to_jsonb(v_before) - 'hash' end,
                                   to_jsonb(v_row) - 'hash');
  return next;
end $$;

comment on function resource.make_secret(text, text, int, interval, text, text) is
  'Makes the secret of a pilot, which can be exchanged p_uses times for a short token of a JobAgent. It replaces the '
  'former secret of that stamp and its tokens. The secret is shown only this once. Errors: PB001 (stamp, uses, '
  'validity), PB002.';
