-- See analysis-weights.md, new-weight-of-the-documentation: the weight is Ws * Wq. brokerage.weight_free_places
-- explains the terms and sums. A task of class S counts as one of class A.
create or replace function brokerage.weight_free_places_factor(p_terms float8[], p_sums float8[], x jsonb)
returns float8
language sql stable parallel safe as $$
  select case
           when p_terms[10] is null or p_terms[8] = least(p_terms[10], 1) then p_terms[9]
           when p_terms[10] >= 1 and p_terms[8] = 0 or p_terms[10] = 0 and p_terms[8] = -1
                or p_terms[10] = -1 and p_terms[8] = 0
           then coalesce((x ->> 'epsilon_1')::float8, 0.001)
           else coalesce((x ->> 'epsilon_2')::float8, 0.0001)
         end
         * case
             when p_sums[7] > p_terms[9]
             then greatest(p_terms[7] - p_terms[9] / (p_sums[4] + p_sums[5] + p_sums[6]), 0) / (p_sums[7] - p_terms[9])
             else 1 / (p_sums[4] + p_sums[5] + p_sums[6])
           end
$$;

comment on function brokerage.weight_free_places_factor(float8[], float8[], jsonb) is
  'New basic weight of the documentation, from the terms of a queue and their sums over the candidates. The parameters '
  'epsilon_1 and epsilon_2 (numbers) are the weights of classes that do not suit the task; the defaults are 0.001 and '
  '0.0001.';
