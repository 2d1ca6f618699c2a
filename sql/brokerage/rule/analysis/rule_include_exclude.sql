-- See analysis-candidates.md, include-exclude. PanDA's code applies the rule only with limitedSites, and has another
-- rule for site. If the list contains AUTO, other queues are taken when no included queue is left. In this set rule a
-- reason that begins with ! always holds.
create or replace function brokerage.rule_include_exclude(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (x ->> 'limited_alone')::boolean and t.limited_sites is not true then null
    when brokerage.is_named(t, q, p, t.excluded_sites)
    then case when (x ->> 'limited_alone')::boolean then '!' else '' end || '-excluded: it is among excludedSite'
    when t.included_sites is not null and not brokerage.is_named(t, q, p, t.included_sites)
    then case when (x ->> 'limited_alone')::boolean and not 'AUTO' = any (t.included_sites) then '!'
              else '' end || '-notincluded: it is not among includedSite'
    when (x ->> 'limited_alone')::boolean then null
    when t.sites is not null and not brokerage.is_named(t, q, p, t.sites)
    then '-nonpreassigned: the task''s site is ' || array_to_string(t.preassigned, ', ')
  end
$$;

comment on function brokerage.rule_include_exclude(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'include-exclude: the queue is among includedSite and site, and is not among excludedSite. Parameter limited_alone '
  '(boolean): as in PanDA''s code.';
