-- MATCHING.md, Conditions on lists.
create or replace function taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).grid_ces is null or cardinality((p_definition).grid_ces) = 0
         or (p_definition).grid_ces && (p_offer).grid_ces
$$;

comment on function taskqueue.accepts_grid_ce(taskqueue.definition, taskqueue.offer) is
  'Condition GridCE: the TaskQueue lists no CE, or one that is offered.';
