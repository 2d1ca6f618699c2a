create or replace function lifecycle.overdue(p_setup text, p_job_ids bigint[] default null)
returns table (job_id bigint, task_id bigint, place int, rule text, status text, action text, is_leased boolean,
               why text)
language sql stable as $$
  select distinct on (t.job_id) t.job_id, t.task_id, t.place, t.rule, t.status, t.action, t.is_leased,
         format('%s: %s, %s %s ago, above %s (%s)', t.rule, t.status, lifecycle.clock_event(t.clock),
                date_trunc('second', resource.clock(p_setup) - t.since), t.time_limit, t.limit_from)
    from lifecycle.judge_timeouts(p_setup, p_job_ids) t
   where t.obstacle is null
   order by t.job_id, t.place
$$;

comment on function lifecycle.overdue(text, bigint[]) is
  'Jobs (the given ones; null means all) to which a timeout applies: the first rule in order, its action, and the '
  'reason in words.';
