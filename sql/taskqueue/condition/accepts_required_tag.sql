-- MATCHING.md, Condition RequiredTag.
create or replace function taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).required_tags is null or (p_offer).required_tags <@ (p_definition).tags
$$;

comment on function taskqueue.accepts_required_tag(taskqueue.definition, taskqueue.offer) is
  'Condition RequiredTag: every tag that the resource requires is among the tags of the TaskQueue.';
