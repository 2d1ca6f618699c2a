-- RETRIES.md, Presets of retry rules: DIRAC's status Rescheduled is a return, unless a rule names it.
create or replace function taskqueue.judges_error(p_setup text, p_error jsonb) returns boolean
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  return exists (
    select from taskqueue.retry_rule r
      join taskqueue.setting s on s.setup = r.setup and s.most_retries > 0
     where r.setup = p_setup and not r.passive and r.source is not null
       and taskqueue.has_error((taskqueue.checked_facts(p_error, null, null)).error, r.source, r.code_from,
                               r.code_to, r.pattern));
end $$;

comment on function taskqueue.judges_error(text, jsonb) is
  'Whether a retry rule that is not passive names the source of an error, and its codes and pattern fit the error. If '
  'so, the service fails a job with this error that it would otherwise release. Errors: PB001 (the error is not '
  'valid), PB002 (setup not granted).';
