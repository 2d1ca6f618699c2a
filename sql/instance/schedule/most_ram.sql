create or replace function instance.most_ram(
  p_ram numeric[], p_hint int[], p_slots int[], p_first int, p_last int, p_of_hint int
) returns numeric
language plpgsql immutable as $$
declare
  v_most numeric := -1;
begin
  for n in p_first .. p_last loop
    if p_ram[p_slots[n]] > v_most and p_of_hint in (0, p_hint[p_slots[n]]) then
      v_most := p_ram[p_slots[n]];
    end if;
  end loop;
  return v_most;
end $$;

comment on function instance.most_ram(numeric[], int[], int[], int, int, int) is
  'The most free memory (MB) of an instance in some slots of instance.fit_steps, among those with a hint, or (0) among '
  'all; -1 if there are none.';
