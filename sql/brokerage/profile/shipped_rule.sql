-- Each base profile and algorithm has a view with its rules.
create or replace view brokerage.shipped_rule as
select s.profile, s.algorithm, s.rule, s.kind, s.position, s.function, s.criteria, s.temporary, true as enabled,
       s.parameters, s.source
  from (select f.* from brokerage.shipped_fact f
         union all select 'documented', 'production_job', r.* from brokerage.shipped_documented_production_job r
         union all select 'panda2026', 'production_job', r.* from brokerage.shipped_panda2026_production_job r
         union all select 'documented', 'production_task', r.* from brokerage.shipped_documented_production_task r
         union all select 'panda2026', 'production_task', r.* from brokerage.shipped_panda2026_production_task r
         union all select 'documented', 'analysis_job', r.* from brokerage.shipped_documented_analysis_job r
         union all select 'panda2026', 'analysis_job', r.* from brokerage.shipped_panda2026_analysis_job r) s;

comment on view brokerage.shipped_rule is
  'The rules of the profiles documented and panda2026. An organisation adds rules or changes them '
  'in brokerage.profile_rule; brokerage.rule_in_force shows the result.';
comment on column brokerage.shipped_rule.rule is 'Rule id, unique in profile and algorithm.';
comment on column brokerage.shipped_rule.position is 'Order within the algorithm; facts come last.';
comment on column brokerage.shipped_rule.kind is 'As in brokerage.profile_rule.';
comment on column brokerage.shipped_rule.function is
  'Function of task facts, queue facts, pair facts, and the parameters if it takes them. For a choice, the function '
  'returns the value by which queues are chosen; null means the weight. For a fact: the function or view that prepares '
  'the fact.';
comment on column brokerage.shipped_rule.criteria is
  'PanDA''s criteria tag; null if there is none, or if reasons begin with a tag of their own.';
comment on column brokerage.shipped_rule.temporary is
  'Whether the problem may pass by itself; if so, the rule only marks a queue, and later rules still see the queue.';
comment on column brokerage.shipped_rule.parameters is
  'Parameters of the function; for a choice, best is the number of queues that it keeps.';
comment on column brokerage.shipped_rule.source is
  'Page and heading that describe the rule, relative to sql/brokerage.';
