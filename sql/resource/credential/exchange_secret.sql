-- See SERVICE.md, Pilot secrets. The update locks the row, so two callers cannot both use the last use. An unknown
-- stamp and a wrong secret raise the same error.
create or replace function resource.exchange_secret(p_setup text, p_stamp text, p_secret text)
returns table (token text, expires_at timestamptz)
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_secret resource.pilot_secret;
begin
  if exists (select from resource.setup_move m where m.setup = p_setup) then
    perform resource.require_here(p_setup);
  end if;
  update resource.pilot_secret s
     set uses_left = s.uses_left - 1
   where s.setup = p_setup and s.stamp = p_stamp and s.hash = sha256(convert_to(p_secret, 'UTF8')) and s.uses_left > 0
     and s.expires_at > now()
  returning s.* into v_secret;
  if not found then
    raise exception 'the secret of % is refused', resource.shown(to_jsonb(p_stamp))
      using errcode = 'PB008', hint = 'It is wrong, or it has been used, has ended or was revoked.';
  end if;
  token := resource.new_secret();
  expires_at := least(now() + interval '1 hour', v_secret.expires_at);
  delete from resource.access_token t where t.stamp = p_stamp and t.setup = p_setup and t.expires_at < now();
  insert into resource.access_token
  values (sha256(convert_to(token, 'UTF8')), p_setup, p_stamp, 'agent', v_secret.owner_group, v_secret.owner_dn,
          p_stamp, exchange_secret.expires_at);
  perform resource.note_change(p_setup, 'token', p_stamp, null, jsonb_build_object(
    'stamp', p_stamp, 'expires_at', exchange_secret.expires_at, 'uses_left', v_secret.uses_left));
  return next;
end $$;

comment on function resource.exchange_secret(text, text, text) is
  'For the service: a token of a JobAgent, valid for an hour at most, for the stamp and secret of a pilot. Errors: '
  'PB006 (the setup moves to another shard), PB008 (the secret is refused).';
