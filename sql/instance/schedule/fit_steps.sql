-- PACKING.md, Fitting: the second phase; Cost of packing. The instances are a list sorted by free cpu, free ram and
-- id, in blocks of c_size slots. A search skips the blocks with too little ram. A full block is cut in two.
-- Long because each change of the list is written in full: a function that changed an array would get a copy of it.
create or replace function instance.fit_steps(
  p_setup text, p_task_id bigint, p_queue text, p_cpu numeric[], p_ram numeric[], p_hint text[], inout p_count int[],
  inout p_place int[], out instances bigint[], out types text[], out at int[], out place int[], out count int[],
  out free_cpu numeric[], out free_ram numeric[]
)
language plpgsql stable as $$
declare
  c_size constant int := 64;
  v_hints text[] := array(select distinct h from unnest(p_hint) h where h is not null);
  v_width int := cardinality(v_hints) + 1;
  -- per instance: free cpu and ram, and the number of its type in v_hints (0 = no step names it)
  i_cpu numeric[]; i_ram numeric[]; i_hint int[];
  -- blocks in their order; for block b: the number of slots in use (from slot b * c_size + 1 on), a bound that none of
  -- its instances exceeds, and at b * v_width + h the most free ram of its instances with hint h (0 = all of them)
  b_order int[] := array[1]; b_used int[] := array[0];
  b_cpu numeric[] := array['Infinity'::numeric]; b_ram numeric[] := b_cpu; b_instance bigint[] := array[0];
  b_most numeric[] := array_fill(-1::numeric, array[v_width], array[v_width]);
  s_instance int[];
  v_runs int := cardinality(p_cpu); v_run int := 1; v_instances int; v_entered int := 0; v_out int := 0;
  v_cpu numeric; v_ram numeric; v_hint int; v_taken int;
  v_found int; v_place int; v_block int; v_new int; v_slot int; v_last int;
begin
  select count(*), coalesce(array_agg(f.instance_id), '{}'), array_agg(f.type), array_agg(f.cpu), array_agg(f.ram),
         array_agg(coalesce(array_position(v_hints, f.type), 0))
    into v_instances, instances, types, i_cpu, i_ram, i_hint
    from (select i.instance_id, i.type, i.cpu - i.used_cpu as cpu, i.ram - i.used_ram as ram
            from (select o.* from instance.live_instances(p_setup, p_task_id, p_queue) o
                  union all
                  select a.* from instance.live_instances(p_setup, null, p_queue) a where p_task_id is not null) i
           where i.cpu - i.used_cpu >= (select min(n) from unnest(p_cpu) n)
             and i.ram - i.used_ram >= (select min(n) from unnest(p_ram) n)
           order by 3, 4, 1) f;
  while v_instances > 0 loop
    if v_entered < v_instances then
      v_entered := v_entered + 1;
      v_found := v_entered;
      v_place := cardinality(b_order);
    else
      exit when v_run > v_runs;
      v_cpu := p_cpu[v_run];
      v_ram := p_ram[v_run];
      v_hint := coalesce(array_position(v_hints, p_hint[v_run]), 0);
      v_place := instance.first_block(b_order, b_cpu, b_ram, b_instance, v_cpu, v_ram, 0);
      loop  -- the first instance that fits
        while b_most[b_order[v_place] * v_width + v_hint] < v_ram loop
          v_place := v_place + 1;
        end loop;
        v_block := b_order[v_place];
        exit when v_block is null;
        v_slot := v_block * c_size + 1;
        v_last := v_block * c_size + b_used[v_block];
        while v_slot <= v_last and (i_cpu[s_instance[v_slot]] < v_cpu or i_ram[s_instance[v_slot]] < v_ram
                                    or v_hint not in (0, i_hint[s_instance[v_slot]])) loop
          v_slot := v_slot + 1;
        end loop;
        exit when v_slot <= v_last;
        v_place := v_place + 1;
      end loop;
      if v_block is null then
        v_run := v_run + 1;
        continue;
      end if;
      v_found := s_instance[v_slot];
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
      for n in v_slot .. v_last - 1 loop  -- the instance leaves its block
        s_instance[n] := s_instance[n + 1];
      end loop;
      b_used[v_block] := b_used[v_block] - 1;
      foreach v_hint in array array[0, i_hint[v_found]] loop
        continue when b_most[v_block * v_width + v_hint] > free_ram[v_out];
        b_most[v_block * v_width + v_hint] :=
          instance.most_ram(i_ram, i_hint, s_instance, v_block * c_size + 1, v_last - 1, v_hint);
      end loop;
      v_place := instance.first_block(b_order, b_cpu, b_ram, b_instance, i_cpu[v_found], i_ram[v_found],
                                      instances[v_found]);
    end if;
    v_cpu := i_cpu[v_found];
    v_ram := i_ram[v_found];
    v_block := b_order[v_place];
    v_slot := v_block * c_size + b_used[v_block];
    while v_slot > v_block * c_size and (i_cpu[s_instance[v_slot]], i_ram[s_instance[v_slot]],
                                         instances[s_instance[v_slot]]) > (v_cpu, v_ram, instances[v_found]) loop
      s_instance[v_slot + 1] := s_instance[v_slot];
      v_slot := v_slot - 1;
    end loop;
    s_instance[v_slot + 1] := v_found;
    b_used[v_block] := b_used[v_block] + 1;
    foreach v_hint in array array[0, i_hint[v_found]] loop
      b_most[v_block * v_width + v_hint] := greatest(b_most[v_block * v_width + v_hint], v_ram);
    end loop;
    continue when b_used[v_block] < c_size;
    v_new := cardinality(b_used) + 1;  -- the new block takes the upper half of the full block, and its bound
    for n in 1 .. c_size / 2 loop
      s_instance[v_new * c_size + n] := s_instance[v_block * c_size + c_size / 2 + n];
    end loop;
    b_order := b_order[:v_place] || v_new || b_order[v_place + 1:];
    b_cpu[v_new] := b_cpu[v_block];
    b_ram[v_new] := b_ram[v_block];
    b_instance[v_new] := b_instance[v_block];
    v_last := s_instance[v_block * c_size + c_size / 2];
    b_cpu[v_block] := i_cpu[v_last];
    b_ram[v_block] := i_ram[v_last];
    b_instance[v_block] := instances[v_last];
    foreach v_block in array array[v_block, v_new] loop
      b_used[v_block] := c_size / 2;
      for n in 0 .. v_width - 1 loop
        b_most[v_block * v_width + n] := instance.most_ram(i_ram, i_hint, s_instance, v_block * c_size + 1,
                                                           v_block * c_size + c_size / 2, n);
      end loop;
    end loop;
  end loop;
end $$;

comment on function instance.fit_steps(text, bigint, text, numeric[], numeric[], text[], int[], int[]) is
  'Places the runs of instance.order_steps on the existing instances (instances, types) of a task, or of no task, at a '
  'queue of kind cloud. A placement has its number of steps (count), their first place in the order, the instance (its '
  'place in instances), and the space that was free there before. p_count and p_place describe the rest of each run.';
