-- LEASES.md, Limits at matches. Inserting and configuring calls exclude each other (taskqueue.reconfigure), so a
-- definition that is made while a limit is set is not missed.
create or replace function taskqueue.counts_at_limit(p_setup text, p_requirements jsonb) returns boolean
language sql stable as $$
  select exists (select from taskqueue.site_limit l
                  where l.setup = p_setup and taskqueue.requires_value(p_requirements, l.attribute, l.value))
$$;

comment on function taskqueue.counts_at_limit(text, jsonb) is
  'Whether jobs with these canonical requirements count at a limit of any site: taskqueue.definition.is_limited.';
