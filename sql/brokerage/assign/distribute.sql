-- See distribution.md, Procedure. Queues of weight 0 come first, each once. Then queues are chosen by weight, one at a
-- time, among those that may still take jobs. Each choice gives the queue the jobs of one chunk, which makes the queue
-- longer and its weight smaller.
create or replace function brokerage.distribute(
  p_jobs bigint, p_weights float8[], p_queued bigint[], p_capacities bigint[], p_chunks int[], p_seed bigint
) returns bigint[]
language plpgsql volatile as $$
declare
  v_given bigint[] := array_fill(0::bigint, array[cardinality(p_weights)]);
  v_weights float8[] := p_weights;
  v_queued bigint[] := p_queued;
  v_left bigint := p_jobs;
  v_number int := 0;
  v_total float8;
  v_draw float8;
  v_chosen int;
  v_taken bigint;
begin
  loop
    exit when v_left <= 0;
    v_number := v_number + 1;
    v_draw := case when p_seed is null then random() else resource.draw(v_number, p_seed) end;
    v_total := 0;
    v_chosen := null;
    for i in 1 .. cardinality(v_weights) loop
      continue when v_given[i] > 0 and p_weights[i] = 0 or p_capacities[i] <= v_queued[i];
      if p_weights[i] = 0 then  -- queues to be tried come first, in random order
        v_chosen := case
          when v_chosen is null or p_weights[v_chosen] <> 0
               or resource.draw(i, (v_draw * 1e15)::bigint) < resource.draw(v_chosen, (v_draw * 1e15)::bigint)
          then i
          else v_chosen end;
      else
        v_total := v_total + v_weights[i];
      end if;
    end loop;
    if v_chosen is null and v_total > 0 then
      v_draw := v_draw * v_total;
      for i in 1 .. cardinality(v_weights) loop
        continue when p_weights[i] = 0 or p_capacities[i] <= v_queued[i];
        v_chosen := i;
        v_draw := v_draw - v_weights[i];
        exit when v_draw <= 0;
      end loop;
    end if;
    exit when v_chosen is null;
    v_taken := least(v_left, p_chunks[v_chosen]);
    v_given[v_chosen] := v_given[v_chosen] + v_taken;
    v_weights[v_chosen] := v_weights[v_chosen] * (v_queued[v_chosen] + 1) / (v_queued[v_chosen] + v_taken + 1);
    v_queued[v_chosen] := v_queued[v_chosen] + v_taken;
    v_left := v_left - v_taken;
  end loop;
  return v_given;
end $$;

comment on function brokerage.distribute(bigint, float8[], bigint[], bigint[], int[], bigint) is
  'The number of a task''s jobs that each candidate gets, from the weights, the jobs queued there, the limits on '
  'queued jobs (null means no limit) and the jobs per choice. A seed makes the result repeatable. Jobs that no queue '
  'may take are left over.';
