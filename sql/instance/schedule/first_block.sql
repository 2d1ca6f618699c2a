create or replace function instance.first_block(
  p_order int[], p_cpu numeric[], p_ram numeric[], p_instance bigint[], p_free_cpu numeric, p_free_ram numeric,
  p_instance_id bigint
) returns int
language plpgsql immutable as $$
declare
  v_low int := 1;
  v_high int := cardinality(p_order);
  v_middle int;
  v_block int;
begin
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    v_block := p_order[v_middle];
    if (p_cpu[v_block], p_ram[v_block], p_instance[v_block]) < (p_free_cpu, p_free_ram, p_instance_id) then
      v_low := v_middle + 1;
    else
      v_high := v_middle;
    end if;
  end loop;
  return v_low;
end $$;

comment on function instance.first_block(int[], numeric[], numeric[], bigint[], numeric, numeric, bigint) is
  'Place in p_order of the first block of instance.fit_steps whose bound (free cpu, free ram, id) is at least (p_cpu, '
  'p_ram, p_instance).';
