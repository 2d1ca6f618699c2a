-- LEASES.md, Limits at matches: the definitions that have a value are found by a scan; 100,000 definitions take 0.1 s,
-- and each that changes takes 60 us. So the callers call this only for the first and the last limit of a value.
create or replace function taskqueue.mark_limited(p_setup text, p_key text, p_value text) returns void
language sql as $$
  update taskqueue.definition d set is_limited = not d.is_limited
   where d.setup = p_setup and taskqueue.requires_value(d.requirements, p_key, p_value)
     and d.is_limited <> taskqueue.counts_at_limit(p_setup, d.requirements)
$$;

comment on function taskqueue.mark_limited(text, text, text) is
  'Corrects taskqueue.definition.is_limited for requirements that have the value of a limit that came or went. The '
  'caller has called taskqueue.reconfigure.';
