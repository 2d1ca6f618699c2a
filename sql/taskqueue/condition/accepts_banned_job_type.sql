-- MATCHING.md, Banned values.
create or replace function taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_offer).banned_job_types is null or not (p_definition).job_types && (p_offer).banned_job_types
$$;

comment on function taskqueue.accepts_banned_job_type(taskqueue.definition, taskqueue.offer) is
  'Condition BannedJobType: the TaskQueue lists no job type that the resource bans.';
