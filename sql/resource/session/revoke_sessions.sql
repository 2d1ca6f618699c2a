-- Sessions of claims, and some of tickets, are for every setup.
-- An operator of one setup may close the sessions that may act in that setup.
create or replace function resource.revoke_sessions(p_setup text, p_subject text) returns bigint
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_gone jsonb;
begin
  perform resource.identify(p_setup);
  with gone as (
    delete from resource.browser_session s
     where s.subject = p_subject
       and (s.setup = p_setup
            or s.setup is null and s.kind is not null
            or exists (select from resource.setups_of_claims(s.claims) c where c.setup = p_setup))
    returning s.*
  )
  select jsonb_agg(to_jsonb(g) - array['hash', 'login', 'claims']) into v_gone from gone g;
  if v_gone is not null then
    perform resource.note_change(p_setup, 'session', p_subject, v_gone, null);
  end if;
  return coalesce(jsonb_array_length(v_gone), 0);
end $$;

comment on function resource.revoke_sessions(text, text) is
  'Closes a person''s browser sessions that may act in the setup: they are refused from the next request on. p_subject '
  'is as in monitor.browser_session. Returns the number of sessions closed. The person may still log in again. Errors: '
  'PB002.';
