-- A session of claims is for every setup, and so is one of a ticket without a setup; its change belongs to no setup.
create or replace function resource.note_session(p_session resource.browser_session, p_gone boolean) returns void
language plpgsql as $$
declare
  v_shown jsonb := to_jsonb(p_session) - array['hash', 'login', 'claims'];
begin
  perform resource.note_change(p_session.setup, 'session', p_session.subject, case when p_gone then v_shown end,
                                   case when not p_gone then v_shown end);
end $$;

comment on function resource.note_session(resource.browser_session, boolean) is
  'Records that a session was opened, or that it was closed if the row is gone; hashes and claims are left out.';
