-- GUARD.md, Quarantines.
create or replace function taskqueue.shown_quarantine(p_quarantine taskqueue.quarantine) returns text
language sql stable as $$
  select format('%s %s is quarantined since %s: %s%s', p_quarantine.kind, p_quarantine.name,
                to_char(p_quarantine.since at time zone 'utc', 'YYYY-MM-DD HH24:MI "UTC"'), p_quarantine.why,
                '; next probe ' || to_char(p_quarantine.next_probe_at at time zone 'utc', 'YYYY-MM-DD HH24:MI "UTC"'))
$$;

comment on function taskqueue.shown_quarantine(taskqueue.quarantine) is 'A quarantine in a sentence.';
