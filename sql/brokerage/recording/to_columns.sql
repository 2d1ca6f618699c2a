-- Rows of a composite type are stored as JSON with one key per attribute: this takes a tenth of the names, and adjacent
-- values of one kind compress well. The values of an attribute are one text in PostgreSQL's form of an array, which
-- takes a quarter of the time of a JSON list. Values that are themselves arrays or JSON become a list. A JSON value
-- that is the same in all rows (the configuration) is written once, as an object all. Values have the order of the
-- rows, so no aggregate here may sort them. The function itself sets the format of numbers (with all digits) and times,
-- whatever the session has set.
create or replace function brokerage.to_columns(p_rows anyarray) returns jsonb
language plpgsql stable set extra_float_digits = 1 set datestyle = 'ISO' set intervalstyle = 'postgres' as $$
declare
  v_columns jsonb;
begin
  execute (
    select format('select jsonb_object_agg(c.name, c.list) from (select unnest(%L::text[]) as name, unnest(array[%s]) '
                  'as list from unnest($1) f) c', array_agg(a.attname order by a.attnum),
                  string_agg(format(case when a.atttypid = 'jsonb'::regtype
                                         then 'case when bool_and(f.%1$I = ($1[1]).%1$I) and count(f.%1$I) = count(*) '
                                              'then jsonb_build_object(''all'', ($1[1]).%1$I) '
                                              'when count(f.%1$I) > 0 then jsonb_agg(f.%1$I) end'
                                         when t.typcategory = 'A'
                                         then 'case when count(f.%1$I) > 0 then jsonb_agg(f.%1$I) end'
                                         else 'case when count(f.%1$I) > 0 then to_jsonb(array_agg(f.%1$I)::text) end'
                                    end, a.attname), ', ' order by a.attnum))
      from pg_type y
      join pg_type e on e.oid = y.typelem
      join pg_attribute a on a.attrelid = e.typrelid and a.attnum > 0 and not a.attisdropped
      join pg_type t on t.oid = a.atttypid
     where y.oid = pg_typeof(p_rows)) into v_columns using p_rows;
  return v_columns || jsonb_build_object('', cardinality(p_rows));
end $$;

comment on function brokerage.to_columns(anyarray) is
  'Rows of a composite type as a JSON object: each attribute with its values, null if all are null; and the number of '
  'rows under the empty name. brokerage.from_columns reads the object.';
