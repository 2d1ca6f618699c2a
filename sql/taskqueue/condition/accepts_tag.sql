-- MATCHING.md, Condition Tag.
create or replace function taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select cardinality((p_definition).tags) = 0 or (p_offer).tags is null or (p_definition).tags <@ (p_offer).tags
$$;

comment on function taskqueue.accepts_tag(taskqueue.definition, taskqueue.offer) is
  'Condition Tag: every tag of the TaskQueue is offered.';
