create or replace function resource.revoke_secret(p_setup text, p_stamp text) returns boolean
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_gone resource.pilot_secret;
begin
  perform resource.identify(p_setup);
  delete from resource.pilot_secret s where s.setup = p_setup and s.stamp = p_stamp returning s.* into v_gone;
  if found then
    perform resource.note_change(p_setup, 'pilot secret', p_stamp, to_jsonb(v_gone) - 'hash', null);
    return true;
  end if;
  return false;
end $$;

comment on function resource.revoke_secret(text, text) is
  'Removes the secret of a pilot and the tokens that it was exchanged for. Returns false if there was no secret. '
  'Errors: PB002.';
