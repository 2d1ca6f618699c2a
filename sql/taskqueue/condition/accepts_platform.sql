-- MATCHING.md, Conditions on lists.
create or replace function taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).platforms is null or cardinality((p_definition).platforms) = 0
         or (p_definition).platforms && (p_offer).platforms
$$;

comment on function taskqueue.accepts_platform(taskqueue.definition, taskqueue.offer) is
  'Condition Platform: the TaskQueue lists no platform, or one that is offered.';
