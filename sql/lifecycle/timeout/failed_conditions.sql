-- The jobs are judged once more only if the setup has conditions of its own.
create or replace function lifecycle.failed_conditions(p_setup text)
returns table (rule text, action text, jobs bigint)
language sql stable as $$
  select t.rule, 'error: ' || min(t.obstacle), 0::bigint
    from (select where exists (select from lifecycle.own_timeout o
                                where o.setup = p_setup and o.conditions <> '{}')) own
   cross join lateral lifecycle.judge_timeouts(p_setup) t
   where t.obstacle like 'the condition % failed: %'
   group by t.rule
$$;

comment on function lifecycle.failed_conditions(text) is
  'The timeouts with a condition that fails for a job (lifecycle.guarded_condition): one error for each, which touched '
  'no job.';
