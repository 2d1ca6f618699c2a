-- task-weights.md, task-choice: the probability is proportional to the weight. Without weights (a preset nucleus, or
-- all weights 0) all probabilities are equal; panda2026 takes the first nucleus if all weights are 0.
create or replace function brokerage.probabilities(p_weights float8[], p_first_of_zeros boolean) returns float8[]
language sql immutable parallel safe as $$
  select array(select case when s.total > 0 then greatest(coalesce(u.weight, 0), 0) / s.total
                           when p_first_of_zeros then (u.number = 1)::int
                           else 1.0 / cardinality(p_weights) end
                 from unnest(p_weights) with ordinality u(weight, number)
                cross join (select sum(greatest(coalesce(w, 0), 0)) as total from unnest(p_weights) w) s
                order by u.number)
$$;

comment on function brokerage.probabilities(float8[], boolean) is
  'Probability of each nucleus of a task, from the weights, best first.';
