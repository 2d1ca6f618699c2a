-- Rows of a composite type as JSON, a list a column: a tenth of the names, and values of a kind side by side compress
-- well. Lists have the order of the rows: no aggregate here may sort them. A JSON column that is the same in all rows
-- (the configuration) stands once, as an object all.
create or replace function brokerage.to_columns(p_rows anyarray) returns jsonb
language plpgsql stable as $$
declare
  v_columns jsonb;
begin
  execute (
    select format('select jsonb_object_agg(c.name, c.list) from (select unnest(%L::text[]) as name, unnest(array[%s]) '
                  'as list from unnest($1) f) c', array_agg(a.attname order by a.attnum),
                  string_agg(case when a.atttypid = 'jsonb'::regtype
                                  then format('case when bool_and(f.%1$I = ($1[1]).%1$I) and count(f.%1$I) = count(*) '
                                              'then jsonb_build_object(''all'', ($1[1]).%1$I) '
                                              'when count(f.%1$I) > 0 then jsonb_agg(f.%1$I) end', a.attname)
                                  else format('case when count(f.%1$I) > 0 then jsonb_agg(f.%1$I) end', a.attname) end,
                             ', ' order by a.attnum))
      from pg_type y
      join pg_type e on e.oid = y.typelem
      join pg_attribute a on a.attrelid = e.typrelid and a.attnum > 0 and not a.attisdropped
     where y.oid = pg_typeof(p_rows)) into v_columns using p_rows;
  return v_columns || jsonb_build_object('', cardinality(p_rows));
end $$;

comment on function brokerage.to_columns(anyarray) is
  'Rows of a composite type as a JSON object: each attribute with the list of its values, null = all are null; and '
  'under the empty name how many rows there are. brokerage.from_columns reads it.';
