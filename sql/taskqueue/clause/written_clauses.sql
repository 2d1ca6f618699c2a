-- CLAUSES.md, Clauses: neighbouring cells of a number or version are one range.
create or replace function taskqueue.written_clauses(p_clauses bit varying[], p_values taskqueue.clause_value[])
returns jsonb[]
language plpgsql immutable as $$
begin
  return (with bit as (
    select c.number, v.kind, v.name, v.value, v.low, v.high, v.place
      from unnest(p_clauses) with ordinality c(bits, number)
      join unnest(p_values) with ordinality v(kind, name, value, low, high, closes, place)
        on get_bit(c.bits, v.place::int - 1) = 1
  ), range as (
    select b.number, b.name, min(b.place) as place,
           (array_agg(b.low order by b.place))[1] || (array_agg(b.high order by b.place desc))[1] as shown
      from (select b.*, b.place - row_number() over (partition by b.number, b.kind, b.name order by b.place) as island
              from bit b where b.low is not null) b
     group by b.number, b.kind, b.name, b.island
  ), attribute as (
    select v.number, v.name,
           coalesce(jsonb_agg(v.shown order by v.place) filter (where v.shown is not null), '[]') as shown
      from (select r.number, r.name, r.place, r.shown from range r
            union all
            select b.number, b.name, b.place, case b.kind when 'flag' then b.value::jsonb else to_jsonb(b.value) end
              from bit b where b.low is null and b.kind not in ('tag', 'site')) v
     group by v.number, v.name
  ), part as (
    select b.number, case when b.kind = 'site' then 'Sites' when b.value = '+' then 'Tags' else 'NoTags' end as key,
           jsonb_agg(case b.kind when 'site' then b.value else b.name end order by b.place) as value
      from bit b where b.kind in ('tag', 'site') group by 1, 2
    union all
    select a.number, 'Attributes', jsonb_object_agg(a.name, a.shown) from attribute a group by a.number
  )
  select coalesce(array_agg(c.clause order by c.clause::text collate "C"), '{}')
    from (select jsonb_object_agg(p.key, p.value) as clause from part p group by p.number) c);
end $$;

comment on function taskqueue.written_clauses(bit varying[], taskqueue.clause_value[]) is
  'Clauses in their JSON form, sorted by text.';
