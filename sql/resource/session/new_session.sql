-- See SERVICE.md, Sessions. A new login of a person closes the oldest sessions of that person, so the table does not
-- grow. The operators of a setup choose the names of its tickets, so the sessions of each setup are counted alone.
create or replace function resource.new_session(
  p_login bytea, p_subject text, p_claims jsonb, p_setup text, p_kind text, p_session text
) returns timestamptz
language plpgsql as $$
declare
  v_hash bytea := decode(p_session, 'hex');
  v_row resource.browser_session;
begin
  if octet_length(v_hash) is distinct from 32 then
    raise exception 'session has % bytes, not the 32 of a sha256', coalesce(octet_length(v_hash), 0)
      using errcode = 'PB001', hint = 'The service makes sessions; a caller gives the hash of a random text.';
  end if;
  -- if one person logs in twice at once, the second login counts the session of the first
  perform pg_advisory_xact_lock(hashtext('resource.browser_session'), hashtext(p_subject));
  delete from resource.browser_session s
   where s.hash in (select e.hash from resource.browser_session e where e.expires_at < now() for update skip locked);
  for v_row in
    delete from resource.browser_session s
     where s.hash in (select o.hash from resource.browser_session o
                       where o.subject = p_subject and o.setup is not distinct from p_setup
                       order by o.opened_at desc, o.hash offset 9)
    returning s.*
  loop
    perform resource.note_session(v_row, true);
  end loop;
  insert into resource.browser_session as s (hash, login, subject, claims, setup, kind, expires_at)
  values (v_hash, p_login, p_subject, p_claims, p_setup, p_kind, now() + interval '12 hours')
  on conflict (login) do nothing
  returning s.* into v_row;
  if not found then
    raise exception 'the login of % has been used', resource.shown(to_jsonb(p_subject))
      using errcode = 'PB008', hint = 'Log in again.';
  end if;
  perform resource.note_session(v_row, false);
  return v_row.expires_at;
end $$;

comment on function resource.new_session(bytea, text, jsonb, text, text, text) is
  'Opens a browser session for twelve hours, and returns its end. p_session: sha256 of its secret, in hex. A subject '
  'has at most ten sessions for every setup, and ten of tickets in each: the oldest are closed. Errors: PB001 (no '
  'sha256), PB008 (this login has already opened a session).';
