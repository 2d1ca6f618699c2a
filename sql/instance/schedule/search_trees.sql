-- PACKING.md, Cost of packing. Every tree is built in one pass over the order of the instances: v_path holds the
-- nodes that may still get a right child; their ranks fall.
create or replace function instance.search_trees(
  p_setup text, p_task_id bigint, p_queue text, p_least_cpu numeric, p_least_ram numeric, p_hints text[],
  out instances bigint[], out types text[], out cpu numeric[], out ram numeric[], out tree int[], out rank int[],
  out child int[], out most numeric[]
)
language plpgsql stable as $$
declare
  v_order int[];
  v_count int;
  v_path int[];
  v_depth int;
  v_shift int;
  v_node int;
  v_cur int;
begin
  with instance as materialized (
    select i.instance_id, i.type, i.cpu - i.used_cpu as cpu, i.ram - i.used_ram as ram,
           row_number() over (order by i.instance_id)::int as number
      from (select o.* from instance.live_instances(p_setup, p_task_id, p_queue) o
            union all
            select a.* from instance.live_instances(p_setup, null, p_queue) a where p_task_id is not null) i
     where i.cpu - i.used_cpu >= p_least_cpu and i.ram - i.used_ram >= p_least_ram
  )
  select count(*), coalesce(array_agg(i.instance_id order by i.number), '{}'), array_agg(i.type order by i.number),
         array_agg(i.cpu order by i.number), array_agg(i.ram order by i.number),
         array_agg(array_position(p_hints, i.type) order by i.number),
         array_agg(i.number order by i.cpu, i.ram, i.number)
    into v_count, instances, types, cpu, ram, tree, v_order
    from instance i;
  if v_count = 0 then
    return;
  end if;
  rank := array(select hashint4(g) from generate_series(1, v_count) g);
  child := array_fill(0, array[4 * v_count + 2 + cardinality(p_hints)]);
  most := array_fill(-1::numeric, array[2 * v_count + 1], array[0]);
  v_path := array_fill(0, array[v_count]);
  for v_tree in 0 .. cardinality(p_hints) loop
    v_shift := case when v_tree = 0 then 0 else v_count end;
    v_depth := 0;
    foreach v_node in array v_order || 0 loop  -- 0 ends the pass
      continue when v_tree > 0 and v_node > 0 and tree[v_node] is distinct from v_tree;
      v_cur := 0;
      while v_depth > 0 and (v_node = 0 or rank[v_path[v_depth] - v_shift] < rank[v_node]) loop
        v_cur := v_path[v_depth];
        most[v_cur] := greatest(ram[v_cur - v_shift], most[child[2 * v_cur]], most[child[2 * v_cur + 1]]);
        v_depth := v_depth - 1;
      end loop;
      exit when v_node = 0;
      v_node := v_node + v_shift;
      child[2 * v_node] := v_cur;
      child[case when v_depth = 0 then 4 * v_count + 2 + v_tree else 2 * v_path[v_depth] + 1 end] := v_node;
      v_depth := v_depth + 1;
      v_path[v_depth] := v_node;
    end loop;
  end loop;
end $$;

comment on function instance.search_trees(text, bigint, text, numeric, numeric, text[]) is
  'The live instances of a task and of no task at a queue of kind cloud with at least so much free, and search trees '
  '(treaps) over them by free cpu, free ram and id: one of all instances, and one for the instances of each hint '
  '(tree: the number of the hint of an instance, null = none). Node i of the first tree and node n + i of the others '
  'is instance i of n. child: the children of node x at 2x and 2x + 1, the root of tree t at 4n + 2 + t, 0 = none. '
  'rank: random rank of an instance, which falls from the root on. most: most free memory (MB) below a node, itself '
  'included; -1 for node 0.';
