-- GUARD.md, Quarantines. A worker node begins with a score of 0 again.
create or replace function taskqueue.drop_quarantine(p_setup text, p_kind text, p_site text, p_name text)
returns table (kind text, site text, name text, why text)
language sql as $$
  update taskqueue.health h
     set score = 0, ends = 0, failures = 0, usual = 0, failing_since = null
   where h.setup = p_setup and h.kind = p_kind and h.site = p_site and h.name = p_name;
  delete from taskqueue.quarantine q
   where q.setup = p_setup and q.kind = p_kind and q.site = p_site and q.name = p_name
  returning q.kind, q.site, q.name, q.why
$$;

comment on function taskqueue.drop_quarantine(text, text, text, text) is
  'Removes a quarantine and returns it; no row if there is none.';
