-- MATCHING.md, Condition Limits. Each limit acts on its own.
create or replace function taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).reached is null
         or not taskqueue.hits_limit((p_definition).requirements, (p_offer).reached, (p_definition).setup)
$$;

comment on function taskqueue.accepts_limits(taskqueue.definition, taskqueue.offer) is
  'Condition Limits: no value of the TaskQueue is at a limit of the site.';
