create or replace function brokerage.takes_first_of_zeros(
  p_rules brokerage.profile_rule[], p_algorithm text
) returns boolean
language sql stable as $$
  select exists (select from unnest(p_rules) r
                  where r.algorithm = p_algorithm and r.kind = 'choice' and r.enabled
                    and (r.parameters ->> 'first_of_zeros')::boolean)
$$;

comment on function brokerage.takes_first_of_zeros(brokerage.profile_rule[], text) is
  'Whether a profile takes the first nucleus if all weights are 0, instead of drawing one.';
