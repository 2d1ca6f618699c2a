-- See SERVICE.md, Subjects. The service collects calls of many callers with the same setup, role and owner; only the
-- name of the subject changes from one call to the next.
create or replace function resource.call_for(p_name text) returns void
language plpgsql as $$
begin
  if p_name is null then
    return;
  elsif not resource.is_service() then
    raise exception 'only the service may give a subject'
      using errcode = 'PB002', hint = 'Leave the subject out: the login identifies the caller.';
  end if;
  perform set_config('pgbroker.subject', (coalesce(nullif(current_setting('pgbroker.subject', true), ''), '{}')::jsonb
                                          || jsonb_build_object('name', p_name))::text, true);
end $$;

comment on function resource.call_for(text) is
  'Makes this subject, which has the same setup and owner, the caller from here on in the transaction; null leaves the '
  'subject as it is. Errors: PB002 (not the service).';
