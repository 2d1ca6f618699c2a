-- The reason of a rule about caps names the figure and each bound (analysis-throttles.md, user-throttle).
create or replace function brokerage.cap_reason(
  t brokerage.task_facts, p_number bigint, p_what text, p_cap_words text, p_cap float8, x jsonb
) returns text
language sql stable parallel safe as $$
  select format('%s has %s %s, ', brokerage.account_of(t), p_number, p_what)
         || case when not x ? 'throttle' then format('%s is %s', p_cap_words, p_cap)
                 else format('tasks are throttled over %s and released at %s (%s and %s of %s, which is %s)',
                             trim_scale((x ->> 'throttle')::numeric * p_cap::numeric),
                             trim_scale((x ->> 'release')::numeric * p_cap::numeric),
                             x ->> 'throttle', x ->> 'release', p_cap_words, p_cap) end
$$;

comment on function brokerage.cap_reason(brokerage.task_facts, bigint, text, text, float8, jsonb) is
  'The reason why the jobs or cores of an account throttle a task, with the cap, or with the parts of the cap of the '
  'parameters throttle and release.';
