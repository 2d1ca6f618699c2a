create or replace function brokerage.has_second_pass(p_profile text, p_algorithm text) returns boolean
language sql stable as $$
  select exists (select from brokerage.rule_in_force r
                  where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled
                    and r.kind = 'second pass')
$$;

comment on function brokerage.has_second_pass(text, text) is
  'Whether a rule of a profile may have a task decided once more (anal-loops).';
