-- DRAWING.md, Many agents at once: which description is not drawn together with others.
create or replace function taskqueue.goes_alone(p_known taskqueue.known_offer) returns boolean
language sql immutable as $$
  select coalesce((p_known.offer).limited, false) or (p_known.offer).job_id is not null
$$;

comment on function taskqueue.goes_alone(taskqueue.known_offer) is
  'Whether the jobs for a description are drawn one after the other: it has limits or a JobID.';
