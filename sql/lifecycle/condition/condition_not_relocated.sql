create or replace function lifecycle.condition_not_relocated(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.relocation_flag = 2 then 'the relocation flag is 2' end;

comment on function lifecycle.condition_not_relocated(lifecycle.timeout_facts) is
  'Condition of a timeout: the relocation flag is not 2. Null if the condition holds; otherwise the reason.';
