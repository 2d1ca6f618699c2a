-- The order of the rules of a profile in the query that decides. Consecutive rules make one part of the query:
--   pairs         candidates and row rules, which look at a pair of task and queue by itself: one level
--   set rules     of one group: they hold together, or are ignored together
--   choice        keeps the best by a value of its own
--   weights       factors of the weight
--   distribution  figures by which jobs are distributed
--   ranking       the choice by weight
-- A level is a number for the rules that can reject a pair: the rules of a part pairs share one level; each set rule
-- and each choice has its own.
create or replace function brokerage.plan_steps(p_rules brokerage.profile_rule[], p_algorithm text)
returns setof brokerage.plan_step
language plpgsql stable rows 50
security definer set search_path = brokerage, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    with rule as (
      select r.*, row(r.*)::brokerage.profile_rule as definition,
             case when r.kind in ('candidate', 'row rule') then 'pairs'
                  when r.kind = 'set rule' then 'set rules'
                  when r.kind = 'choice' then case when r.function is null then 'ranking' else 'choice' end
                  when r.kind = 'weight' then 'weights'
                  else r.kind end as part,
             case when r.kind = 'set rule' then coalesce(r.parameters ->> 'group', r.rule) end as of_group
        from unnest(p_rules) r
       where r.algorithm = p_algorithm and r.enabled
         and r.kind not in ('task rule', 'second pass', 'pending', 'fact')
    ), follower as (
      select r.*, r.part in ('choice', 'ranking')
                  or (r.part, r.of_group) is distinct from (lag(r.part) over w, lag(r.of_group) over w) as begins
        from rule r
      window w as (order by r.position, r.rule)
    )
    select (sum(f.begins::int) over w)::int, f.part,
           case when f.part in ('pairs', 'set rules', 'choice')
                then (sum((f.part in ('set rules', 'choice') or f.part = 'pairs' and f.begins)::int) over w)::int - 1
           end,
           f.rule, f.kind, f.temporary and l.marks, f.of_group,
           case when jsonb_typeof(f.parameters -> 'best') = 'number' then (f.parameters ->> 'best')::bigint end,
           case when f.part <> 'ranking' then brokerage.rule_call(f.definition, 't, q, p') end,
           brokerage.reason_prefix(f.rule, f.criteria, f.parameters), f.definition
      from follower f
      join brokerage.profile_line p on p.profile = f.profile
      join brokerage.shipped_profile l on l.profile = p.of_profile
    window w as (order by f.position, f.rule)
     order by f.position, f.rule;
end $$;

comment on function brokerage.plan_steps(brokerage.profile_rule[], text) is
  'The rules of a profile in the order in which brokerage.compose makes a query from them: step and part (which '
  'consecutive rules share), level of rules that can reject a pair, whether a rule only marks a queue, the group of a '
  'set rule, how many queues a choice keeps, the call of its function, and the beginning of its reasons. Errors: PB001 '
  '(no such profile, a rule that does not fit), PB002 (a rule whose owner is not trusted).';
