-- See ARCHITECTURE.md, Roles. Everybody may set the setting, so it counts only in a session of the service. For any
-- other login the function reads nothing else.
create or replace function resource.subject() returns resource.subject
language plpgsql stable parallel safe as $$
declare
  v_subject text := current_setting('pgbroker.subject', true);
begin
  if v_subject <> '' and resource.is_service() then
    return jsonb_populate_record(null::resource.subject, v_subject::jsonb);
  end if;
  return null;
end $$;

comment on function resource.subject() is
  'The caller through the service (broker serve), from the setting pgbroker.subject of the transaction; null in the '
  'session of any other login, and where the service calls for nobody.';
