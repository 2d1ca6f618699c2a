-- LEASES.md, Limits: a job counts at every value that its TaskQueue lists, and each limit acts on its own. (DIRAC
-- combines them, a bug.)
create or replace function taskqueue.hits_limit(p_requirements jsonb, p_limits bigint[], p_setup text) returns boolean
language sql stable as $$
  select exists (select from taskqueue.site_limit l
                  where l.setup = p_setup and l.limit_id = any (p_limits)
                    and taskqueue.requires_value(p_requirements, l.attribute, l.value))
$$;

comment on function taskqueue.hits_limit(jsonb, bigint[], text) is
  'Whether requirements list a value of one of the limits.';
