-- Attributes are found by name: what the type no longer has is left out. One that the columns lack cannot be
-- made up, since null would let queues pass.
create or replace function brokerage.from_columns(p_columns jsonb, p_none anyelement) returns anyarray
language plpgsql stable as $$
declare
  v_lacking text;
begin
  select string_agg(a.attname, ', ' order by a.attnum) into v_lacking
    from pg_type y
    join pg_attribute a on a.attrelid = y.typrelid and a.attnum > 0 and not a.attisdropped
   where y.oid = pg_typeof(p_none) and not p_columns ? a.attname::text;
  if found and v_lacking is not null then
    raise exception 'the facts that were kept lack % of %', v_lacking, pg_typeof(p_none)
      using errcode = 'PB001', hint = 'Another release kept them: replay what this release decided.';
  end if;
  return array(
    select jsonb_populate_record(p_none, coalesce(r.fields, '{}') || s.fields)
      from generate_series(1, (p_columns -> '')::int) n
      left join (select e.number, jsonb_object_agg(c.key, e.value) as fields
                   from jsonb_each(p_columns) c
                  cross join lateral jsonb_array_elements(c.value) with ordinality e(value, number)
                  where jsonb_typeof(c.value) = 'array'
                  group by e.number) r on r.number = n
     cross join (select coalesce(jsonb_object_agg(c.key, c.value -> 'all'), '{}') as fields
                   from jsonb_each(p_columns) c
                  where jsonb_typeof(c.value) = 'object') s
     order by n);
end $$;

comment on function brokerage.from_columns(jsonb, anyelement) is
  'Rows of a composite type (null of that type) from what brokerage.to_columns made of them. Errors: PB001 (an '
  'attribute is lacking).';
