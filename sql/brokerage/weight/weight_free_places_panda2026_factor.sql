-- See analysis-weights.md, new-weight-of-the-server: the weight is main * second + 2^-20. If classes do not count, all
-- queues are one class. brokerage.weight_free_places explains the terms and sums. The function is in plpgsql because it
-- is called once per candidate, and a query per call is ten times as slow.
create or replace function brokerage.weight_free_places_panda2026_factor(p_terms float8[], p_sums float8[], x jsonb)
returns float8
language plpgsql immutable parallel safe as $$
declare
  v_place int := 2 - p_terms[8];  -- hi, mid, lo
  v_main float8 := p_terms[9];
  v_total float8 := p_sums[7];
  v_queues float8 := p_sums[4] + p_sums[5] + p_sums[6];
begin
  if p_terms[10] is not null then
    v_main := (brokerage.jobs_of_classes(v_main, p_terms[10], p_sums))[v_place];
    v_total := p_sums[v_place];
    v_queues := p_sums[3 + v_place];
  end if;
  return v_main * case
                    when v_total > v_main and p_terms[11] = 0
                    then greatest(p_terms[7] - v_main / v_queues, 0.001 * v_main) / (v_total - v_main)
                    when v_total > 0 then p_terms[7] / v_total
                    else 1 / v_queues
                  end + 2 ^ (-20)::float8;
end $$;

comment on function brokerage.weight_free_places_panda2026_factor(float8[], float8[], jsonb) is
  'New basic weight of panda2026, from the terms of a queue and their sums over the candidates.';
