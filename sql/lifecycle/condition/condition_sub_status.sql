create or replace function lifecycle.condition_sub_status(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.sub_status is null then 'the job has no sub status' end;

comment on function lifecycle.condition_sub_status(lifecycle.timeout_facts) is
  'Condition of a timeout: the job has a sub status. Null if the condition holds; otherwise the reason.';
