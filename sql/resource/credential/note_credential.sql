create or replace function resource.note_credential(
  p_setup text, p_object text, p_name text, p_before jsonb, p_after jsonb
) returns void
language sql as $$
  insert into resource.credential_change (setup, role_name, subject, object, name, before, after)
  values (p_setup, resource.caller(), (resource.subject()).name, p_object, p_name, p_before, p_after)
$$;

comment on function resource.note_credential(text, text, text, jsonb, jsonb) is
  'Keeps who changed a credential, a pilot secret or a token, with what it was and is.';
