-- CLAUSES.md, Clauses: the variables and their values. The order is that of the bits: tags that are offered, the same
-- tags not offered, then the values of each other variable. A number or version is cut into cells: each bound that
-- occurs, and the gaps around the bounds. Version 0 is the lowest, so no gap is below it.
create or replace function taskqueue.clause_values(p_parts taskqueue.clause_part[], p_tags text[])
returns setof taskqueue.clause_value
language sql immutable as $$
  with part as (
    select distinct p.kind, p.name, p.absent, p.value, p.low, p.high from unnest(p_parts) p
  ), variable as (
    select distinct p.kind, p.name, p.absent from part p where p.kind not in ('tag', 'many', 'site')
  ), tag as (
    select p.name from part p where p.kind = 'tag' union select t from unnest(p_tags) t
  ), bound as (
    select v.kind, v.name, v.absent, null::numeric[] as bound from variable v where v.kind in ('number', 'version')
    union
    select p.kind, p.name, p.absent, b.bound
      from part p cross join lateral (values (p.low), (p.high)) b(bound) where p.kind in ('number', 'version')
  ), cell as (
    select b.*, s.shown, lead(s.shown) over (partition by b.name order by b.bound nulls first) as next
      from bound b
     cross join lateral (select case when b.bound is null then null when b.kind = 'number' then to_jsonb(b.bound[1])
                                     else to_jsonb(coalesce(nullif(array_to_string(b.bound, '.'), ''), '0'))
                                     end) s(shown)
  ), value as (
    select s.block, 'tag' as kind, t.name, s.sign as value, null::numeric[] as bound,
           null::jsonb as low, null::jsonb as high, false as closes
      from tag t cross join (values (1, '+'), (2, '-')) s(block, sign)
    union all
    select 3, p.kind, p.name, p.value, null, null, null, false
      from part p where p.kind in ('site', 'many', 'text') and p.value is not null
    union all
    select 3, v.kind, v.name, f.value, null, null, null, v.absent <> 'fails'
      from variable v cross join (values ('false'), ('true')) f(value) where v.kind = 'flag'
    union all
    select 3, c.kind, c.name, c.bound::text, c.bound,
           case when c.kind = 'version' and c.bound = '{}' then '{}' else jsonb_build_object('min', c.shown) end,
           jsonb_build_object('max', c.shown), c.absent <> 'fails'
      from cell c where c.bound is not null
    union all
    select 3, c.kind, c.name, '', c.bound,
           case when c.bound is null then '{}' else jsonb_build_object('above', c.shown) end,
           case when c.next is null then '{}' else jsonb_build_object('below', c.next) end, c.absent <> 'fails'
      from cell c where c.bound is not null or c.kind = 'number' or c.next is distinct from '"0"'
    union all
    select 3, v.kind, v.name, null, null, null, null, v.absent = 'passes' and v.kind <> 'text'
      from variable v where v.absent = 'passes'
  )
  select v.kind, v.name, v.value, v.low, v.high, v.closes
    from value v
   order by v.block, v.kind, v.name collate "C", v.value is null, v.bound nulls first, v.low ? 'above',
            v.value collate "C"
$$;

comment on function taskqueue.clause_values(taskqueue.clause_part[], text[]) is
  'The values of all variables of atoms and of the tags p_tags, in the order of the bits of clauses.';
