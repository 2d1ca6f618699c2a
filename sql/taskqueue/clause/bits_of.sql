create or replace function taskqueue.bits_of(p_ids int[], p_length int, p_start bit varying default '')
returns bit varying
language plpgsql immutable as $$
declare
  v_bits bit varying := p_start || repeat('0', p_length - length(p_start))::bit varying;
  v_id int;
begin
  foreach v_id in array coalesce(p_ids, '{}') loop
    v_bits := set_bit(v_bits, v_id - 1, 1);
  end loop;
  return v_bits;
end $$;

comment on function taskqueue.bits_of(int[], int, bit varying) is
  'The bits of p_start, made longer to p_length, with those at the places p_ids set.';
