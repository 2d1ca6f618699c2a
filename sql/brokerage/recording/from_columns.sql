-- Attributes are found by name; those that the type no longer has are left out. A missing attribute is an error, since
-- a null value would make queues pass.
create or replace function brokerage.from_columns(p_columns jsonb, p_none anyelement, out taken anyarray)
language plpgsql stable set datestyle = 'ISO' set intervalstyle = 'postgres' as $$
declare
  v_type constant regtype := pg_typeof(p_none);
  v_lacking text;
  v_values text;  -- one call for each attribute, which gives its values row by row
  v_row text;
begin
  select string_agg(a.attname, ', ' order by a.attnum) filter (where not p_columns ? a.attname::text),
         string_agg(format(case when a.atttypid = 'jsonb'::regtype
                                then 'jsonb_array_elements(case when jsonb_typeof($1 -> %1$L) <> ''object'' '
                                     'then nullif($1 -> %1$L, ''null'') end)'
                                when t.typcategory = 'A' then 'jsonb_array_elements(nullif($1 -> %1$L, ''null''))'
                                else 'unnest(($1 ->> %1$L)::%2$s[])' end,
                           a.attname, format_type(a.atttypid, null)), ', ' order by a.attnum),
         string_agg(format(case when a.atttypid = 'jsonb'::regtype
                                then 'coalesce($1 -> %1$L -> ''all'', nullif(v.%1$I, ''null''))'
                                when t.typcategory = 'A'
                                then 'case when v.%1$I <> ''null'' then array('
                                     'select e.value from jsonb_array_elements_text(v.%1$I) with ordinality e '
                                     'order by e.ordinality)::%2$s end'
                                else 'v.%1$I' end,
                           a.attname, format_type(a.atttypid, null)), ', ' order by a.attnum)
    into v_lacking, v_values, v_row
    from pg_type y
    join pg_attribute a on a.attrelid = y.typrelid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
   where y.oid = v_type;
  if v_lacking is not null then
    raise exception 'the facts that were kept lack % of %', v_lacking, v_type
      using errcode = 'PB001', hint = 'Another release kept them: replay only decisions of this release.';
  end if;
  execute format('select array(select row(%s)::%s from rows from (generate_series(1, ($1 -> '''')::int), %s) '
                 'v ("#", %s) order by v."#")', v_row, v_type, v_values,
                 (select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
                    from pg_attribute a
                    join pg_type y on y.typrelid = a.attrelid
                   where y.oid = v_type and a.attnum > 0 and not a.attisdropped))
     into taken using p_columns;
exception
  when data_exception then
    raise exception 'the facts that were kept do not fit %: %', v_type, left(sqlerrm, 200)
      using errcode = 'PB001', hint = 'Another release kept them: replay only decisions of this release.';
end $$;

comment on function brokerage.from_columns(jsonb, anyelement) is
  'Rows of a composite type (given as null of that type) from the result of brokerage.to_columns. Errors: PB001 (an '
  'attribute is missing or had another type).';
