-- conventions.md, Reasons, has the word for each rejection. An organisation's own rules give no_queue_accepts, or
-- limited if their problem may pass by itself.
create or replace function brokerage.reason_of_rule(p_rule text, p_temporary boolean) returns text
language sql immutable as $$
  select case
    when p_rule = any ('{memory,core-count,max-core-count,scratch-disk,walltime,walltime-scout}') then 'too_large'
    when p_rule = any ('{input-completeness,task-input-scan,anal-locality,task-locality-num,task-locality-size,
                         use-only-local-data,final-availability}') then 'input_missing'
    when p_temporary then 'limited'
    else 'no_queue_accepts' end
$$;

comment on function brokerage.reason_of_rule(text, boolean) is
  'The word for a rejection by a rule: too_large, input_missing, limited or no_queue_accepts. p_temporary: whether its '
  'problem may pass by itself (brokerage.profile_rule).';
