create or replace function taskqueue.clause_bits(p_parts taskqueue.clause_part[], p_values taskqueue.clause_value[])
returns jsonb
language plpgsql immutable as $$
declare
  v_size int := cardinality(p_values);
  v_ones bit varying := repeat('1', v_size)::bit varying;
  v_places jsonb;  -- of values, from 0; of the first and the last value of a variable
  v_part taskqueue.clause_part;
  v_variable text;
  v_low int;
  v_high int;
  v_bits bit varying;
  v_atoms bit varying[] := '{}'::bit varying[];
begin
  select jsonb_object_agg(k.key, v.place - 1)
    into v_places
    from (select v.kind || ' ' || v.name || ' ' as variable, v.value, v.place,
                 v.place = min(v.place) over w as first,
                 v.place = max(v.place) filter (where v.value is not null) over w as last
            from unnest(p_values) with ordinality v(kind, name, value, low, high, closes, place)
          window w as (partition by v.kind, v.name)) v
   cross join lateral (values (coalesce('value ' || v.value, 'absent'), v.value is distinct from ''),
                              ('first', v.first), ('last', v.last)) n(name, given)
   cross join lateral (select v.variable || n.name) k(key)
   where n.given;
  foreach v_part in array p_parts loop
    v_variable := v_part.kind || ' ' || v_part.name || ' ';
    if v_part.kind in ('number', 'version') and v_part.above is not null then
      v_low := (v_places ->> (v_variable || coalesce('value ' || v_part.low::text, 'first')))::int + v_part.above::int;
      v_high := (v_places ->> (v_variable || coalesce('value ' || v_part.high::text, 'last')))::int - v_part.below::int;
    else
      v_low := (v_places ->> (v_variable || coalesce('value ' || v_part.value, 'absent')))::int;
      v_high := v_low;
    end if;
    v_bits := (v_ones >> v_low) & (v_ones << v_size - 1 - v_high);
    if v_part.absent = 'passes' and v_part.kind <> 'many' then
      v_bits := set_bit(v_bits, (v_places ->> (v_variable || 'absent'))::int, 1);
    end if;
    v_atoms[v_part.atom] := coalesce(v_atoms[v_part.atom] | v_bits, v_bits);
  end loop;
  return (
    select jsonb_object_agg(b.token, b.bits)
      from (select '#' || a.number, a.bits::text from unnest(v_atoms) with ordinality a(bits, number)
            union all
            select v.value || v.name, overlay(repeat('0', v_size) placing '1' from v.place::int)
              from unnest(p_values) with ordinality v(kind, name, value, low, high, closes, place)
             where v.kind = 'tag') b(token, bits));
end $$;

comment on function taskqueue.clause_bits(taskqueue.clause_part[], taskqueue.clause_value[]) is
  'The clause of each atom (#n) and each tag (+tag, -tag) as the text of a bit string, with a bit for each value.';
