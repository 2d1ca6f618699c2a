create or replace function lifecycle.condition_changed_since(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.state_changed is not distinct from f.modified
            then 'nothing was heard of the job since its status changed' end;

comment on function lifecycle.condition_changed_since(lifecycle.timeout_facts) is
  'Condition of a timeout: the job was modified after its status changed. Null if the condition holds; otherwise the '
  'reason.';
