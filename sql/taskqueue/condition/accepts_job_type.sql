-- MATCHING.md, Conditions on lists.
create or replace function taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).job_types is null or cardinality((p_definition).job_types) = 0
         or (p_definition).job_types && (p_offer).job_types
$$;

comment on function taskqueue.accepts_job_type(taskqueue.definition, taskqueue.offer) is
  'Condition JobType: the TaskQueue lists no job type, or one that is offered.';
