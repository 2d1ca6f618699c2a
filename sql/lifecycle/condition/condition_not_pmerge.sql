create or replace function lifecycle.condition_not_pmerge(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.processing_type = 'pmerge' then 'the processing type is pmerge' end;

comment on function lifecycle.condition_not_pmerge(lifecycle.timeout_facts) is
  'Condition of a timeout: the processing type is not pmerge. Null if the condition holds; otherwise the reason.';
