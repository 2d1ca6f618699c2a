-- If a rule of a profile has the parameter sees_assignments, the tasks of a batch are decided in turn.
create or replace function brokerage.sees_assignments(
  p_rules brokerage.profile_rule[], p_algorithm text
) returns boolean
language sql stable as $$
  select exists (select from unnest(p_rules) r
                  where r.algorithm = p_algorithm and r.enabled
                    and (r.parameters ->> 'sees_assignments')::boolean)
$$;

comment on function brokerage.sees_assignments(brokerage.profile_rule[], text) is
  'Whether rules of a profile read the jobs that the same batch assigned (the live counter).';
