create or replace function resource.clear_credential(p_setup text, p_name text) returns boolean
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_gone resource.credential;
begin
  perform resource.identify(p_setup);
  delete from resource.credential c where c.setup = p_setup and c.name = p_name returning c.* into v_gone;
  if found then
    perform resource.note_change(p_setup, 'credential', p_name, to_jsonb(v_gone), null);
    return true;
  end if;
  return false;
end $$;

comment on function resource.clear_credential(text, text) is
  'Removes a credential: tokens that fit it are refused from the next request on. Returns false if the credential does '
  'not exist. Errors: PB002.';
