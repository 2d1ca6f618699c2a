-- RETRIES.md. The planner inlines it.
create or replace function taskqueue.shown_retry_rule(p_rule taskqueue.retry_rule) returns text
language sql immutable as $$
  select p_rule.name || ': ' || p_rule.decision || coalesce(', memory x ' || trim_scale(p_rule.memory_factor), '')
         || coalesce(', time x ' || trim_scale(p_rule.time_factor), '') || coalesce(', other ' || p_rule.elsewhere, '')
         || case when p_rule.less_input then ', less input' else '' end
$$;

comment on function taskqueue.shown_retry_rule(taskqueue.retry_rule) is
  'The name, decision and changes of a retry rule, as the history has them: "more-memory: retry, memory x 1.5". Null '
  'if there is no rule.';
