create or replace function brokerage.takes_first_of_zeros(p_profile text, p_algorithm text) returns boolean
language sql stable as $$
  select exists (select from brokerage.rule_in_force r
                  where r.profile = p_profile and r.algorithm = p_algorithm and r.kind = 'choice' and r.enabled
                    and (r.parameters ->> 'first_of_zeros')::boolean)
$$;

comment on function brokerage.takes_first_of_zeros(text, text) is
  'Whether a profile takes the first nucleus if all weights are 0, instead of drawing one.';
