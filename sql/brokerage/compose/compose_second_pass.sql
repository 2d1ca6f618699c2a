-- Tasks that may be decided once more if no queue is left for them (anal-loops). $1 are task facts. Each has
-- 'persistent' (only if no temporary rule rejected a queue) or 'any'.
create or replace function brokerage.compose_second_pass(p_profile text, p_algorithm text) returns text
language plpgsql stable as $$
declare
  v_rule brokerage.profile_rule;
begin
  select r.* into v_rule from brokerage.rule_in_force r
   where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind = 'second pass'
   order by r.position, r.rule
   limit 1;
  return case when v_rule.rule is not null
              then format('select s.task_id, s.said from (select t.task_id, %s as said from unnest($1) t '
                          'where not coalesce(t.second_pass, false)) s where s.said is not null',
                          brokerage.rule_call(v_rule, 't')) end;
end $$;

comment on function brokerage.compose_second_pass(text, text) is
  'SQL of the rule of kind second pass: task_id and the answer for each task that may be decided once more; null = a '
  'profile without such a rule. Errors: PB001, PB002 (a rule that does not fit).';
