-- MATCHING.md, Condition PilotType: always strict.
create or replace function taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select cardinality((p_definition).pilot_types) = 0 or (p_definition).pilot_types && (p_offer).pilot_types
$$;

comment on function taskqueue.accepts_pilot_type(taskqueue.definition, taskqueue.offer) is
  'Condition PilotType: the TaskQueue lists no pilot type, or one that is offered; a resource that offers none takes '
  'only TaskQueues that list none.';
