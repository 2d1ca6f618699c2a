create or replace function resource.note_change(
  p_setup text, p_object text, p_name text, p_before jsonb, p_after jsonb
) returns void
language sql as $$
  insert into resource.change (setup, role_name, subject, object, name, before, after)
  values (p_setup, resource.caller(), (resource.subject()).name, p_object, p_name, p_before, p_after)
$$;

comment on function resource.note_change(text, text, text, jsonb, jsonb) is
  'Records a change in resource.change, with the object, the name, the values before and after, and who made it.';
