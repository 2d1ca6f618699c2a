-- Seed 002, schedule(): where each waiting job of a task goes. The law is the seed's, job by job; what
-- differs is how it is worked out.
--
-- Jobs in their order (prioritize_jobs) are cut into runs of equal needs. fit_jobs on the instances that are there:
-- they stand in a tree by (free cpu, free ram, id), each node with the most free ram below it, so that the first that
-- suits is found in log n; there is such a tree of all instances, and one for each type that jobs name. An instance
-- that took a job moves up in the order and is again the first that suits the next of the same needs, so it takes as
-- many of a run as it has room for.
-- After that an old instance never suits a job that it did not suit before: each round of the seed's loop only fills
-- the instance that the round before requested.
-- So a new instance goes through the jobs in their order and takes what fits. Jobs of one price and hint stand in a
-- list by falling cpu; of those within the free cpu (an end of the list) the first within the free ram is found by a
-- tree over their least ram. A filling that leaves enough jobs for another of the same is repeated.
create or replace function instance.packing(p_setup text, p_task_id bigint, p_queue text, p_most bigint default null)
returns table (step_id bigint, cpu numeric, ram numeric, instance_id bigint, number int, type text, free_cpu numeric,
               free_ram numeric)
language plpgsql stable
set jit = off set enable_seqscan = off  -- plans do not go by how many jobs were there when the table was last analysed
as $$
declare
  v_cheapest_first boolean := coalesce(
    (select s.first = 'cheapest' from instance.setting s where s.setup = p_setup), false);
  v_steps bigint[];  -- in their order
  -- runs, in the order of the jobs
  v_runs int;
  r_cpu numeric[]; r_ram numeric[]; r_hint text[]; r_type text[]; r_left int[]; r_next int[]; r_leaf int[];
  r_least_cpu numeric[]; r_least_ram numeric[];  -- of it and those behind it
  -- instances that are there, by id
  v_instances int;
  i_id bigint[]; i_type text[]; i_cpu numeric[]; i_ram numeric[];
  -- their trees: node n of the first is instance n, of the others instance n - v_instances; children at 2n and 2n +
  -- 1, a root where a node's child would be
  t_child int[]; t_most numeric[]; t_rank int[]; t_path int[]; t_order int[];
  v_hints text[];
  -- lists of runs for new instances: leaves of one tree, list by list
  l_run int[]; l_cpu numeric[]; l_least numeric[]; l_leaves int;
  list_first int[]; list_last int[]; list_hint text[]; v_lists int; list_price numeric[];
  v_from int[];
  -- what comes out: so many jobs of the order from a place on, on an instance (above
  -- v_instances: a new one) with so much free
  o_instance int[] := '{}'::int[]; o_place int[] := '{}'::int[]; o_count int[] := '{}'::int[];
  o_cpu numeric[] := '{}'::numeric[]; o_ram numeric[] := '{}'::numeric[];
  v_out int := 0;
  n_type text[] := '{}'::text[]; v_new int := 0;
  f_leaf int[]; f_count int[]; f_cpu numeric[]; f_ram numeric[]; v_fill int; v_repeat bigint;
  v_run int; v_i int; v_node int; v_slot int; v_cur int; v_other int; v_left int; v_right int; v_depth int; v_found int;
  v_count int;
  v_cpu numeric; v_ram numeric; v_type text; v_price numeric; v_price_of numeric; v_list int; v_ahead int; v_best int;
  v_best_list int; v_low int; v_high int; v_leaf int;
begin
  with shape as materialized (
    select d.cpu, d.ram, d.instance_type, d.jobs, (d.t).price as price, (d.t).name as type
      from (select s.*, instance.required_type(p_setup, s.cpu, s.ram, s.instance_type) as t
              from (select j.cpu, j.ram, j.instance_type, array_agg(j.step_id) as jobs
                      from instance.unplaced_steps(p_setup, p_task_id, p_queue) j
                     where j.cpu is not null and j.ram is not null
                     group by j.cpu, j.ram, j.instance_type) s
            offset 0) d
     where (d.t).name is not null
  ), ordered as materialized (
    select u.step_id, s.cpu, s.ram, s.instance_type, s.type, s.price,
           row_number() over (order by case when v_cheapest_first then s.price else - s.price end, s.cpu desc,
                                       s.ram desc, u.step_id) as place
      from shape s cross join lateral unnest(s.jobs) u (step_id)
  ), cut as (
    select o.*, sum(o.begins::int) over (order by o.place) as run
      from (select i.*,
                   (i.price, i.cpu, i.ram) is distinct from (lag(i.price) over w, lag(i.cpu) over w, lag(i.ram) over w)
                   or i.instance_type is distinct from lag(i.instance_type) over w as begins
              from ordered i window w as (order by i.place)) o
  ), run as materialized (
    select c.run::int as run, min(c.cpu) as cpu, min(c.ram) as ram, min(c.instance_type) as hint, min(c.type) as type,
           min(c.price) as price, count(*)::int as jobs, min(c.place)::int as place
      from cut c group by c.run
  ), leaf as materialized (  -- lists: by price, those without a hint and those of each hint, runs in their order
    select r.*,
           row_number() over (order by case when v_cheapest_first then r.price else - r.price end, r.hint nulls first,
                                       r.run)::int as leaf
      from run r
  ), list as (
    select l.price, l.hint, min(l.leaf) as first, max(l.leaf) as last from leaf l group by l.price, l.hint
  )
  select (select array_agg(o.step_id order by o.place) from ordered o),
         r.runs, r.cpu, r.ram, r.hint, r.type, r.jobs, r.place, r.leaf, r.hints,
         f.run, f.cpu, f.least, i.first, i.last, i.hint, i.price
    into v_steps, v_runs, r_cpu, r_ram, r_hint, r_type, r_left, r_next, r_leaf, v_hints, l_run, l_cpu, l_least,
         list_first, list_last, list_hint, list_price
    from (select count(*)::int as runs, array_agg(l.cpu order by l.run) as cpu, array_agg(l.ram order by l.run) as ram,
                 array_agg(l.hint order by l.run) as hint,
                 array_agg(l.type order by l.run) as type, array_agg(l.jobs order by l.run) as jobs,
                 array_agg(l.place order by l.run) as place,
                 array_agg(l.leaf order by l.run) as leaf,
                 coalesce(array_agg(distinct l.hint) filter (where l.hint is not null), '{}') as hints
            from leaf l) r,
         (select array_agg(l.run order by l.leaf) as run, array_agg(l.cpu order by l.leaf) as cpu,
                 array_agg(l.ram order by l.leaf) as least
            from leaf l) f,
         (select array_agg(l.first order by l.first) as first, array_agg(l.last order by l.first) as last,
                 array_agg(l.hint order by l.first) as hint,
                 array_agg(l.price order by l.first) as price from list l) i;
  if v_runs = 0 then
    return;
  end if;

  r_least_cpu := r_cpu;
  r_least_ram := r_ram;
  for n in reverse v_runs - 1 .. 1 loop
    r_least_cpu[n] := least(r_least_cpu[n], r_least_cpu[n + 1]);
    r_least_ram[n] := least(r_least_ram[n], r_least_ram[n + 1]);
  end loop;
  with instance as materialized (
    select i.instance_id, i.type, i.cpu - i.used_cpu as cpu, i.ram - i.used_ram as ram,
           row_number() over (order by i.instance_id)::int as number
      from (select o.* from instance.live_instances(p_setup, p_task_id, p_queue) o
            union all
            select a.* from instance.live_instances(p_setup, null, p_queue) a where p_task_id is not null) i
     where i.cpu - i.used_cpu >= r_least_cpu[1] and i.ram - i.used_ram >= r_least_ram[1]  -- others suit no job
  )
  select count(*)::int, coalesce(array_agg(i.instance_id order by i.number), '{}'), array_agg(i.type order by i.number),
         array_agg(i.cpu order by i.number),
         array_agg(i.ram order by i.number), array_agg(i.number order by i.cpu, i.ram, i.number)
    into v_instances, i_id, i_type, i_cpu, i_ram, t_order
    from instance i;

  if v_instances > 0 then
    t_child := array_fill(0, array[4 * v_instances + 3 + cardinality(v_hints)]);
    t_most := array_fill(0::numeric, array[2 * v_instances]);
    t_rank := array(select hashint4(g) from generate_series(1, v_instances) g);
    t_path := array_fill(0, array[2 * v_instances + 1]);
    -- the trees of all, in one pass over their order: t_path holds the nodes that may still get a
    -- right child, their ranks falling
    for n in 0 .. cardinality(v_hints) loop
      v_other := case when n = 0 then 0 else v_instances end;
      v_depth := 0;
      foreach v_found in array t_order loop
        continue when n > 0 and i_type[v_found] <> v_hints[n];
        v_cur := 0;
        while v_depth > 0 and t_rank[t_path[v_depth] - v_other] < t_rank[v_found] loop
          v_cur := t_path[v_depth];
          v_left := t_child[2 * v_cur];
          v_right := t_child[2 * v_cur + 1];
          t_most[v_cur] := greatest(i_ram[v_cur - v_other], case when v_left <> 0 then t_most[v_left] end,
                                    case when v_right <> 0 then t_most[v_right] end);
          v_depth := v_depth - 1;
        end loop;
        v_node := v_found + v_other;
        t_child[2 * v_node] := v_cur;
        t_child[case when v_depth = 0 then 4 * v_instances + 2 + n else 2 * t_path[v_depth] + 1 end] := v_node;
        v_depth := v_depth + 1;
        t_path[v_depth] := v_node;
      end loop;
      while v_depth > 0 loop
        v_cur := t_path[v_depth];
        v_left := t_child[2 * v_cur];
        v_right := t_child[2 * v_cur + 1];
        t_most[v_cur] := greatest(i_ram[v_cur - v_other], case when v_left <> 0 then t_most[v_left] end,
                                  case when v_right <> 0 then t_most[v_right] end);
        v_depth := v_depth - 1;
      end loop;
    end loop;
    v_run := 1;
    while v_run <= v_runs loop
      -- the first instance that suits
      v_cpu := r_cpu[v_run];
      v_ram := r_ram[v_run];
      v_other := case when r_hint[v_run] is null then 0 else v_instances end;
      v_node := t_child[case when v_other = 0 then 4 * v_instances + 2
                             else 4 * v_instances + 2 + array_position(v_hints, r_hint[v_run]) end];
      v_found := 0;
      while v_node <> 0 loop
        if i_cpu[v_node - v_other] < v_cpu then
          v_node := t_child[2 * v_node + 1];
        else
          v_right := t_child[2 * v_node + 1];
          if i_ram[v_node - v_other] >= v_ram or v_right <> 0 and t_most[v_right] >= v_ram then
            v_found := v_node;
          end if;
          v_node := t_child[2 * v_node];
        end if;
      end loop;
      if v_found = 0 then
        v_run := v_run + 1;
        continue;
      end if;
      if i_ram[v_found - v_other] < v_ram then  -- not itself: the first on its right
        v_node := t_child[2 * v_found + 1];
        loop
          v_left := t_child[2 * v_node];
          if v_left <> 0 and t_most[v_left] >= v_ram then
            v_node := v_left;
          elsif i_ram[v_node - v_other] >= v_ram then
            exit;
          else
            v_node := t_child[2 * v_node + 1];
          end if;
        end loop;
        v_found := v_node;
      end if;
      v_found := v_found - v_other;
      v_count := r_left[v_run];
      if v_cpu > 0 then
        v_count := least(v_count, div(i_cpu[v_found], v_cpu));
      end if;
      if v_ram > 0 then
        v_count := least(v_count, div(i_ram[v_found], v_ram));
      end if;
      v_out := v_out + 1;
      o_instance[v_out] := v_found;
      o_place[v_out] := r_next[v_run];
      o_count[v_out] := v_count;
      o_cpu[v_out] := i_cpu[v_found];
      o_ram[v_out] := i_ram[v_found];
      -- it leaves its trees
      foreach v_other in array array[0, v_instances] loop
        v_slot := case when v_other = 0 then 4 * v_instances + 2
                       else 4 * v_instances + 2 + array_position(v_hints, i_type[v_found]) end;
        continue when v_slot is null;
        v_node := v_found + v_other;
        v_depth := 0;
        loop
          v_cur := t_child[v_slot];
          exit when v_cur = v_node;
          v_depth := v_depth + 1;
          t_path[v_depth] := v_cur;
          v_i := v_cur - v_other;
          v_slot := 2 * v_cur
                    + (i_cpu[v_i] < i_cpu[v_found]
                       or i_cpu[v_i] = i_cpu[v_found]
                          and (i_ram[v_i] < i_ram[v_found] or i_ram[v_i] = i_ram[v_found] and v_i < v_found))::int;
        end loop;
        v_left := t_child[2 * v_node];
        v_right := t_child[2 * v_node + 1];
        while v_left <> 0 and v_right <> 0 loop
          v_depth := v_depth + 1;
          if t_rank[v_left - v_other] > t_rank[v_right - v_other] then
            t_child[v_slot] := v_left;
            t_path[v_depth] := v_left;
            v_slot := 2 * v_left + 1;
            v_left := t_child[v_slot];
          else
            t_child[v_slot] := v_right;
            t_path[v_depth] := v_right;
            v_slot := 2 * v_right;
            v_right := t_child[v_slot];
          end if;
        end loop;
        t_child[v_slot] := v_left + v_right;
        while v_depth > 0 loop
          v_cur := t_path[v_depth];
          v_left := t_child[2 * v_cur];
          v_right := t_child[2 * v_cur + 1];
          t_most[v_cur] := greatest(i_ram[v_cur - v_other], case when v_left <> 0 then t_most[v_left] end,
                                    case when v_right <> 0 then t_most[v_right] end);
          v_depth := v_depth - 1;
        end loop;
      end loop;
      i_cpu[v_found] := i_cpu[v_found] - v_count * v_cpu;
      i_ram[v_found] := i_ram[v_found] - v_count * v_ram;
      r_left[v_run] := r_left[v_run] - v_count;
      r_next[v_run] := r_next[v_run] + v_count;
      if r_left[v_run] = 0 then
        v_run := v_run + 1;
        exit when v_run > v_runs;
      end if;
      -- it suits no job any more
      continue when i_cpu[v_found] < r_least_cpu[v_run] or i_ram[v_found] < r_least_ram[v_run];
      -- it enters its trees: above the first node of lower rank, whose tree is split by it
      foreach v_other in array array[0, v_instances] loop
        v_slot := case when v_other = 0 then 4 * v_instances + 2
                       else 4 * v_instances + 2 + array_position(v_hints, i_type[v_found]) end;
        continue when v_slot is null;
        v_node := v_found + v_other;
        v_depth := 0;
        loop
          v_cur := t_child[v_slot];
          exit when v_cur = 0 or t_rank[v_cur - v_other] < t_rank[v_found];
          v_depth := v_depth + 1;
          t_path[v_depth] := v_cur;
          v_low := v_cur - v_other;
          v_slot := 2 * v_cur + (i_cpu[v_low] < i_cpu[v_found]
                                 or i_cpu[v_low] = i_cpu[v_found]
                                    and (i_ram[v_low] < i_ram[v_found]
                                         or i_ram[v_low] = i_ram[v_found] and v_low < v_found))::int;
        end loop;
        t_child[v_slot] := v_node;
        v_depth := v_depth + 1;
        t_path[v_depth] := v_node;
        v_left := 2 * v_node;
        v_right := 2 * v_node + 1;
        while v_cur <> 0 loop
          v_depth := v_depth + 1;
          t_path[v_depth] := v_cur;
          v_low := v_cur - v_other;
          if i_cpu[v_low] < i_cpu[v_found]
             or i_cpu[v_low] = i_cpu[v_found]
                and (i_ram[v_low] < i_ram[v_found] or i_ram[v_low] = i_ram[v_found] and v_low < v_found) then
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
        -- from below: of the split nodes, then itself, then those above
        v_low := v_depth;
        while v_low > 0 loop
          v_cur := t_path[v_low];
          v_left := t_child[2 * v_cur];
          v_right := t_child[2 * v_cur + 1];
          t_most[v_cur] := greatest(i_ram[v_cur - v_other], case when v_left <> 0 then t_most[v_left] end,
                                    case when v_right <> 0 then t_most[v_right] end);
          v_low := v_low - 1;
        end loop;
      end loop;
    end loop;
  end if;

  -- new instances
  v_lists := cardinality(list_first);
  l_leaves := 1;
  while l_leaves < v_runs loop
    l_leaves := 2 * l_leaves;
  end loop;
  l_least := array(select case when r_left[l_run[g]] > 0 then l_least[g] else 'Infinity' end
                     from generate_series(1, v_runs) g);
  -- leaf n at l_leaves - 1 + n
  l_least := array_fill('Infinity'::numeric, array[l_leaves - 1]) || l_least
             || array_fill('Infinity'::numeric, array[l_leaves - v_runs]);
  for n in reverse l_leaves - 1 .. 1 loop
    l_least[n] := least(l_least[2 * n], l_least[2 * n + 1]);
  end loop;
  v_run := 1;
  loop
    while v_run <= v_runs and r_left[v_run] = 0 loop
      v_run := v_run + 1;
    end loop;
    exit when v_run > v_runs or v_new >= p_most;
    v_type := r_type[v_run];
    select t.cpu, t.ram, t.price
      into v_cpu, v_ram, v_price_of
      from resource.instance_type t
     where t.setup = p_setup and t.name = v_type;
    f_leaf := '{}'::int[]; f_count := '{}'::int[]; f_cpu := '{}'::numeric[]; f_ram := '{}'::numeric[];
    v_fill := 0;
    v_repeat := null;
    v_from := list_first;
    v_list := 1;
    while v_list <= v_lists loop
      v_price := list_price[v_list];
      v_best := 0;
      v_ahead := v_list;
      while v_ahead <= v_lists and list_price[v_ahead] = v_price loop  -- the lists of one price whose jobs may go there
        if (list_hint[v_ahead] is null or list_hint[v_ahead] = v_type) and v_from[v_ahead] <= list_last[v_ahead] then
          v_low := v_from[v_ahead];
          v_high := list_last[v_ahead] + 1;
          while v_low < v_high loop  -- from here on cpu is within what is free
            v_leaf := (v_low + v_high) / 2;
            if l_cpu[v_leaf] <= v_cpu then
              v_high := v_leaf;
            else
              v_low := v_leaf + 1;
            end if;
          end loop;
          v_from[v_ahead] := v_low;
          if v_low <= list_last[v_ahead] then
            v_node := l_leaves - 1 + v_low;
            while v_node <> 0 and l_least[v_node] > v_ram loop
              while v_node % 2 = 1 loop
                v_node := v_node / 2;
              end loop;
              if v_node <> 0 then
                v_node := v_node + 1;
              end if;
            end loop;
            while v_node <> 0 and v_node < l_leaves loop
              v_node := 2 * v_node;
              if l_least[v_node] > v_ram then
                v_node := v_node + 1;
              end if;
            end loop;
            v_leaf := v_node - l_leaves + 1;
            if v_node = 0 or v_leaf > list_last[v_ahead] then
              v_from[v_ahead] := list_last[v_ahead] + 1;  -- free ram only gets less
            else
              v_from[v_ahead] := v_leaf;
              if v_best = 0 or l_run[v_leaf] < l_run[v_best] then
                v_best := v_leaf;
                v_best_list := v_ahead;
              end if;
            end if;
          end if;
        end if;
        v_ahead := v_ahead + 1;
      end loop;
      if v_best = 0 then
        v_list := v_ahead;
        continue;
      end if;
      v_found := l_run[v_best];
      v_count := r_left[v_found];
      if r_cpu[v_found] > 0 then
        v_count := least(v_count, div(v_cpu, r_cpu[v_found]));
      end if;
      if r_ram[v_found] > 0 then
        v_count := least(v_count, div(v_ram, r_ram[v_found]));
      end if;
      v_fill := v_fill + 1;
      f_leaf[v_fill] := v_best;
      f_count[v_fill] := v_count;
      f_cpu[v_fill] := v_cpu;
      f_ram[v_fill] := v_ram;
      v_repeat := least(v_repeat, r_left[v_found] / v_count);
      v_cpu := v_cpu - v_count * r_cpu[v_found];
      v_ram := v_ram - v_count * r_ram[v_found];
      v_from[v_best_list] := v_best + 1;
    end loop;
    v_repeat := least(v_repeat, p_most - v_new);
    for n in 1 .. v_repeat loop
      v_new := v_new + 1;
      n_type[v_new] := v_type;
      for f in 1 .. v_fill loop
        v_found := l_run[f_leaf[f]];
        v_out := v_out + 1;
        o_instance[v_out] := v_instances + v_new;
        o_place[v_out] := r_next[v_found];
        o_count[v_out] := f_count[f];
        o_cpu[v_out] := f_cpu[f];
        o_ram[v_out] := f_ram[f];
        r_next[v_found] := r_next[v_found] + f_count[f];
        r_left[v_found] := r_left[v_found] - f_count[f];
      end loop;
    end loop;
    for f in 1 .. v_fill loop
      v_found := l_run[f_leaf[f]];
      if r_left[v_found] = 0 then
        v_node := l_leaves - 1 + f_leaf[f];
        l_least[v_node] := 'Infinity';
        while v_node > 1 loop
          v_node := v_node / 2;
          l_least[v_node] := least(l_least[2 * v_node], l_least[2 * v_node + 1]);
        end loop;
      end if;
    end loop;
  end loop;

  return query
  with job as materialized (
    select u.step_id, u.place from unnest(v_steps) with ordinality u (step_id, place)
  ), placed as materialized (
    select o.instance, o.place + g.g as place, o.cpu, o.ram, g.g
      from unnest(o_instance, o_place, o_count, o_cpu, o_ram) o (instance, place, count, cpu, ram)
     cross join generate_series(0, o.count - 1) g (g)
  ), at as materialized (  -- an element of a long array of texts is not found at once
    select i.*
      from unnest(coalesce(i_id, '{}') || array_fill(null::bigint, array[v_new]),
                  coalesce(i_type, '{}') || n_type) with ordinality i (instance_id, type, instance)
  )
  select b.step_id, j.cpu, j.ram, a.instance_id, greatest(p.instance - v_instances, 0), a.type, p.cpu - p.g * j.cpu,
         p.ram - p.g * j.ram
    from placed p
    join at a on a.instance = p.instance
    join job b on b.place = p.place
    join instance.step j on j.setup = p_setup and j.step_id = b.step_id
   order by p.place;
end $$;

comment on function instance.packing(text, bigint, text, bigint) is
  'Where instance.schedule would place the jobs of a task (null = of no task) at a queue of kind cloud (null = at '
  'none) now, in their order: on an instance that is there (instance_id), or on a new one (number, counted from 1, of '
  'a type; p_most: so many at most), with its needs and what is free there before. Jobs that wait for needs, limits '
  'or a type that fits are left out.';
