-- PACKING.md, Fitting: the second phase; Cost of packing. Long because each change of the search trees is written
-- out: a call for each placement would copy the trees.
create or replace function instance.fit_steps(
  p_setup text, p_task_id bigint, p_queue text, p_cpu numeric[], p_ram numeric[], p_hint text[], inout p_count int[],
  inout p_place int[], out instances bigint[], out types text[], out at int[], out place int[], out count int[],
  out free_cpu numeric[], out free_ram numeric[]
)
language plpgsql stable as $$
declare
  v_hints text[] := array(select distinct h from unnest(p_hint) h where h is not null);
  v_least_cpu numeric[] := p_cpu; v_least_ram numeric[] := p_ram;  -- of a run and those behind it
  v_runs int := cardinality(p_cpu);
  v_instances int; i_cpu numeric[]; i_ram numeric[]; i_tree int[];  -- free cpu and ram of an instance, its tree
  t_rank int[]; t_child int[]; t_most numeric[]; t_path int[];
  v_run int := 1; v_out int := 0;
  v_root int; v_shift int; v_node int; v_slot int; v_cur int; v_left int; v_right int; v_depth int; v_found int;
  v_enters boolean; v_cpu numeric; v_ram numeric; v_taken int;
begin
  for n in reverse v_runs - 1 .. 1 loop
    v_least_cpu[n] := least(v_least_cpu[n], v_least_cpu[n + 1]);
    v_least_ram[n] := least(v_least_ram[n], v_least_ram[n + 1]);
  end loop;
  select s.instances, s.types, s.cpu, s.ram, s.tree, s.rank, s.child, s.most, cardinality(s.instances)
    into instances, types, i_cpu, i_ram, i_tree, t_rank, t_child, t_most, v_instances
    from instance.search_trees(p_setup, p_task_id, p_queue, v_least_cpu[1], v_least_ram[1], v_hints) s;
  if v_instances = 0 then
    return;
  end if;
  t_path := array_fill(0, array[2 * v_instances + 1]);
  v_root := 4 * v_instances + 2;
  while v_run <= v_runs loop
    v_cpu := p_cpu[v_run];
    v_ram := p_ram[v_run];
    v_shift := case when p_hint[v_run] is null then 0 else v_instances end;
    v_node := t_child[v_root + coalesce(array_position(v_hints, p_hint[v_run]), 0)];
    v_found := 0;
    while v_node <> 0 loop  -- the first node that suits, or with such a node on its right
      if i_cpu[v_node - v_shift] < v_cpu then
        v_node := t_child[2 * v_node + 1];
      else
        if i_ram[v_node - v_shift] >= v_ram or t_most[t_child[2 * v_node + 1]] >= v_ram then
          v_found := v_node;
        end if;
        v_node := t_child[2 * v_node];
      end if;
    end loop;
    if v_found = 0 then
      v_run := v_run + 1;
      continue;
    end if;
    if i_ram[v_found - v_shift] < v_ram then
      v_found := t_child[2 * v_found + 1];
      loop
        if t_most[t_child[2 * v_found]] >= v_ram then
          v_found := t_child[2 * v_found];
        else
          exit when i_ram[v_found - v_shift] >= v_ram;
          v_found := t_child[2 * v_found + 1];
        end if;
      end loop;
    end if;
    v_found := v_found - v_shift;
    v_taken := least(p_count[v_run], div(i_cpu[v_found], nullif(v_cpu, 0)), div(i_ram[v_found], nullif(v_ram, 0)));
    v_out := v_out + 1;
    at[v_out] := v_found;
    place[v_out] := p_place[v_run];
    count[v_out] := v_taken;
    free_cpu[v_out] := i_cpu[v_found];
    free_ram[v_out] := i_ram[v_found];
    i_cpu[v_found] := i_cpu[v_found] - v_taken * v_cpu;
    i_ram[v_found] := i_ram[v_found] - v_taken * v_ram;
    p_count[v_run] := p_count[v_run] - v_taken;
    p_place[v_run] := p_place[v_run] + v_taken;
    v_run := v_run + (p_count[v_run] = 0)::int;
    exit when v_run > v_runs;
    v_enters := i_cpu[v_found] >= v_least_cpu[v_run] and i_ram[v_found] >= v_least_ram[v_run];  -- may suit again
    foreach v_shift in array array[0, v_instances] loop
      v_slot := v_root + case when v_shift = 0 then 0 else i_tree[v_found] end;
      continue when v_slot is null;
      v_node := v_found + v_shift;
      v_depth := 0;
      loop  -- the instance leaves its tree
        v_cur := t_child[v_slot];
        exit when v_cur = v_node;
        v_depth := v_depth + 1;
        t_path[v_depth] := v_cur;
        v_slot := 2 * v_cur + ((i_cpu[v_cur - v_shift], i_ram[v_cur - v_shift], v_cur)
                               < (free_cpu[v_out], free_ram[v_out], v_node))::int;
      end loop;
      v_left := t_child[2 * v_node];
      v_right := t_child[2 * v_node + 1];
      while v_left <> 0 and v_right <> 0 loop
        v_cur := case when t_rank[v_left - v_shift] > t_rank[v_right - v_shift] then v_left else v_right end;
        v_depth := v_depth + 1;
        t_path[v_depth] := v_cur;
        t_child[v_slot] := v_cur;
        v_slot := 2 * v_cur + (v_cur = v_left)::int;
        v_left := case when v_cur = v_left then t_child[v_slot] else v_left end;
        v_right := case when v_cur = v_right then t_child[v_slot] else v_right end;
      end loop;
      t_child[v_slot] := v_left + v_right;
      for n in reverse v_depth .. 1 loop
        v_cur := t_path[n];
        t_most[v_cur] := greatest(i_ram[v_cur - v_shift], t_most[t_child[2 * v_cur]], t_most[t_child[2 * v_cur + 1]]);
      end loop;
      continue when not v_enters;
      v_slot := v_root + case when v_shift = 0 then 0 else i_tree[v_found] end;
      v_depth := 0;
      loop  -- it enters above the first node of lower rank, whose subtree it splits
        v_cur := t_child[v_slot];
        exit when v_cur = 0 or t_rank[v_cur - v_shift] < t_rank[v_found];
        v_depth := v_depth + 1;
        t_path[v_depth] := v_cur;
        v_slot := 2 * v_cur + ((i_cpu[v_cur - v_shift], i_ram[v_cur - v_shift], v_cur)
                               < (i_cpu[v_found], i_ram[v_found], v_node))::int;
      end loop;
      t_child[v_slot] := v_node;
      v_depth := v_depth + 1;
      t_path[v_depth] := v_node;
      v_left := 2 * v_node;
      v_right := 2 * v_node + 1;
      while v_cur <> 0 loop
        v_depth := v_depth + 1;
        t_path[v_depth] := v_cur;
        if (i_cpu[v_cur - v_shift], i_ram[v_cur - v_shift], v_cur) < (i_cpu[v_found], i_ram[v_found], v_node) then
          t_child[v_left] := v_cur;
          v_left := 2 * v_cur + 1;
          v_cur := t_child[v_left];
        else
          t_child[v_right] := v_cur;
          v_right := 2 * v_cur;
          v_cur := t_child[v_right];
        end if;
      end loop;
      t_child[v_left] := 0;
      t_child[v_right] := 0;
      for n in reverse v_depth .. 1 loop
        v_cur := t_path[n];
        t_most[v_cur] := greatest(i_ram[v_cur - v_shift], t_most[t_child[2 * v_cur]], t_most[t_child[2 * v_cur + 1]]);
      end loop;
    end loop;
  end loop;
end $$;

comment on function instance.fit_steps(text, bigint, text, numeric[], numeric[], text[], int[], int[]) is
  'Places the runs of instance.order_steps on the instances of a task at a queue of kind cloud that are there '
  '(instances, types). Each placement: so many steps (count) from a place in the order on, at an instance (its place '
  'in instances), with what was free there before. p_count, p_place: what is left of each run.';
