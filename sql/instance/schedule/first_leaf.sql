create or replace function instance.first_leaf(p_least numeric[], p_first int, p_ram numeric) returns int
language plpgsql immutable as $$
declare
  v_leaves int := (cardinality(p_least) + 1) / 2;
  v_node int := v_leaves - 1 + p_first;
begin
  while v_node <> 0 and p_least[v_node] > p_ram loop  -- go up, to the next subtree on the right
    while v_node % 2 = 1 loop
      v_node := v_node / 2;
    end loop;
    v_node := v_node + (v_node <> 0)::int;
  end loop;
  while v_node between 1 and v_leaves - 1 loop
    v_node := 2 * v_node;
    v_node := v_node + (p_least[v_node] > p_ram)::int;
  end loop;
  return nullif(v_node, 0) - v_leaves + 1;
end $$;

comment on function instance.first_leaf(numeric[], int, numeric) is
  'The first leaf, from p_first on, in the tree of instance.fill_instances whose least memory (MB) is at most p_ram; '
  'null if there is none.';
