-- The action (lifecycle.overdue) and the explanation (lifecycle.explain_timeouts) read these same rows.
create or replace function lifecycle.judge_timeouts(
  p_setup text, p_job_ids bigint[] default null, p_all boolean default false
) returns table (job_id bigint, task_id bigint, place int, rule text, status text, action text, clock text,
                 since timestamptz, time_limit interval, limit_from text, is_leased boolean, obstacle text)
language plpgsql stable as $$
begin
  return query execute format($q$
    with timeout as materialized (select t as row, t.* from lifecycle.timeouts_of($1) t)
    select (a.facts).job_id, (a.facts).task_id, a.place, t.rule, (a.facts).status, a.action, t.clock, a.since,
           a.time_limit, a.limit_from, a.is_leased,
           coalesce(lifecycle.scope_obstacle(a.facts, t.row), %s,
                    case when a.time_limit is null
                         then format('off: %%s is not set',
                                     coalesce(case when t.queue_column is not null then a.limit_from end,
                                              split_part(coalesce(t.key_by_name, t.key), ':', 2)))
                         when a.since is null then format('the time is not known (%%s)', t.clock) end)
      from lifecycle.aged_jobs($1, $2, $3) a
      join timeout t on t.position = a.place$q$, lifecycle.condition_calls(p_setup)) using p_setup, p_job_ids, p_all;
end $$;

comment on function lifecycle.judge_timeouts(text, bigint[], boolean) is
  'Jobs (the given ones; null means all that have not ended) by timeout: the time from which the age counts, the '
  'limit, and the reason why the timeout does not apply (null if it applies). p_all: all timeouts of each job, '
  'otherwise only those whose limit the job has passed.';
