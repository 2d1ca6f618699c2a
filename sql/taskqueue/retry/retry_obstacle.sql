-- RETRIES.md. The planner inlines it. Patterns are compared in collation C (taskqueue.fits_error).
create or replace function taskqueue.retry_obstacle(p_rule taskqueue.retry_rule, p_failure taskqueue.failure)
returns text
language sql stable as $$
  select case
    when p_rule.decision <> 'fail' and p_failure.failures > least(p_failure.most_retries, p_failure.max_attempt - 1)
    then format('the budget is spent: failure %s, and %s', p_failure.failures, taskqueue.shown_budget(p_failure))
    when p_rule.decision <> 'fail' and not p_failure.has_work
    then 'brokerage did not make the job, so no part can go back'
    when p_failure.failures < p_rule.failures_from or p_failure.failures > p_rule.failures_to
    then format('failure %s, not %s %s', p_failure.failures, p_rule.failures_from,
                coalesce('to ' || p_rule.failures_to, 'or later'))
    when p_failure.error_class <> all (p_rule.classes)
    then format('class %s, not %s', p_failure.error_class, array_to_string(p_rule.classes, ', '))
    when p_rule.sites is not null and (p_failure.site = any (p_rule.sites)) is not true
    then format('%s, not %s', coalesce('site ' || p_failure.site, 'no site'), array_to_string(p_rule.sites, ', '))
    when p_failure.owner_group <> all (p_rule.owner_groups)
    then format('group %s, not %s', p_failure.owner_group, array_to_string(p_rule.owner_groups, ', '))
    when not p_failure.job_types && p_rule.job_types
    then format('%s, not %s', coalesce('job type ' || nullif(array_to_string(p_failure.job_types, ', '), ''),
                                       'no job type'), array_to_string(p_rule.job_types, ', '))
    when coalesce(p_rule.source, p_rule.pattern, p_rule.code_from::text, p_rule.code_to::text) is not null
         and not taskqueue.has_error(p_failure.error, p_rule.source, p_rule.code_from, p_rule.code_to, p_rule.pattern)
    then 'no error with' || coalesce(' source ' || p_rule.source, '')
         || case when p_rule.code_from = p_rule.code_to then format(' code %s', p_rule.code_from)
                 else coalesce(' code from ' || p_rule.code_from, '') || coalesce(' code to ' || p_rule.code_to, '') end
         || coalesce(' text like ' || p_rule.pattern, '')
    else taskqueue.change_obstacle(p_rule, p_failure)
  end
$$;

comment on function taskqueue.retry_obstacle(taskqueue.retry_rule, taskqueue.failure) is
  'The reason why a retry rule does not fit a failed end, in words; null if the rule fits.';
