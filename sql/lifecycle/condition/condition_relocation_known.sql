create or replace function lifecycle.condition_relocation_known(f lifecycle.timeout_facts) returns text
language sql stable
return case when f.relocation_flag = 2 then 'the relocation flag is 2'
            when f.relocation_flag is null then 'the relocation flag is not known' end;

comment on function lifecycle.condition_relocation_known(lifecycle.timeout_facts) is
  'Condition of a timeout: the relocation flag is known and not 2. Null if the condition holds; otherwise the reason.';
