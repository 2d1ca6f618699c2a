-- task-weights.md, task-choice: the first candidate whose cumulated probability reaches the draw.
create or replace function brokerage.draw_nucleus(p_probabilities float8[], p_seed bigint) returns int
language plpgsql volatile as $$
declare
  v_draw float8 := case when p_seed is null then random() else resource.draw(1, p_seed) end;
  v_place int;
begin
  for i in 1 .. cardinality(p_probabilities) loop
    continue when p_probabilities[i] <= 0;
    v_place := i;
    v_draw := v_draw - p_probabilities[i];
    exit when v_draw <= 0;
  end loop;
  return v_place;
end $$;

comment on function brokerage.draw_nucleus(float8[], bigint) is
  'Draws one of several candidates by their probabilities and returns its place. A seed makes the draw repeatable.';
