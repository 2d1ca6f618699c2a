create or replace function brokerage.compose_begin(
  p_rules brokerage.profile_rule[], p_algorithm text, p_wide boolean, p_all_failures boolean, p_survivors boolean
) returns brokerage.composition
language plpgsql stable as $$
declare
  c brokerage.composition;
begin
  c.facts := brokerage.compose_facts(
    p_wide, p_algorithm, false,
    case when p_wide and p_algorithm = 'production_task' then brokerage.facts_read(p_rules, p_algorithm) end);
  c.all_failures := p_all_failures;
  c.survivors := p_survivors;
  c.filters_first := p_wide and not p_all_failures and p_algorithm <> 'production_task';
  c.keeps_marks := (brokerage.second_pass(p_rules, p_algorithm)).rule is not null;
  c.filtered := 'filtered as (select null::bigint as task_number, null::int[] as lost, null::text[] as reasons, '
              'null::text[] as marks, null::bigint as outside where false), ';
  c.done := '';
  c.stage := 'asked';
  c.pairs := (c.facts).base;
  c.begins := (c.facts).begins;
  c.beside := '';
  c.pair := (c.facts).pair;
  c.steps := '';
  c.relation := 'asked';
  c.asked := '{}';
  c.alone := '{null::text}';
  c.failed := '{null::text}';
  c.marked := '{}';
  c.marks_made := '{null::text}';
  c.failures := '{null::text[]}';
  c.ignored := '{}';
  c.factors := '{}';
  c.distribution := '{}';
  return c;
end $$;

comment on function brokerage.compose_begin(brokerage.profile_rule[], text, boolean, boolean, boolean) is
  'The query of a profile before its first step; the arguments are those of brokerage.compose.';
