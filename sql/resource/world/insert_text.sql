-- The text is one insert for all rows of an array ($2), with the columns that any row gives; other columns get their
-- defaults, also in excluded. With p_merge all rows give the same columns, and only those change. The inserted row
-- takes the other columns from the existing row, because they may be declared not null. The function is in plpgsql
-- because all versions then keep its plan.
create or replace function resource.insert_text(p_table regclass, p_rows jsonb, p_merge boolean default false)
returns text
language plpgsql stable as $$
declare
  v_keys text[] := array(select distinct k.name from jsonb_array_elements(p_rows) e(row)
                          cross join jsonb_object_keys(e.row) k(name));
  v_text text;
begin
  select format('insert into %s as held (setup%s) select $1%s from jsonb_array_elements($2) with ordinality e(row, '
                'place)%s order by e.place%s', p_table,
           string_agg(', ' || quote_ident(c.name),
                      '' order by c.place) filter (where c.name = any (v_keys) or p_merge and c.given),
           string_agg(', ' || case when c.name <> all (v_keys)
                                   then format('case when t.setup is null then %s else t.%I end',
                                               coalesce(c.default_text, 'null'), c.name)
                                   when c.default_text is null then v.value
                                   else format('case when e.row ? %L then %s else %s end', c.name,
                                               v.value, c.default_text) end,
                      '' order by c.place) filter (where c.name = any (v_keys) or p_merge and c.given),
           case when p_merge
                then format(' left join %s t on t.setup = $1%s', p_table,
                  string_agg(format(' and t.%I = %s', c.name, case when c.name = any (v_keys) then v.value
                                                                   else coalesce(c.default_text, 'null') end),
                             '' order by c.key_place)
                    filter (where c.key_place is not null)) end,
           case when bool_and(c.given)
                then format(' on conflict (setup, %s) do %s',
                            string_agg(quote_ident(c.name),
                                       ', ' order by c.key_place) filter (where c.key_place is not null),
                  coalesce('update set '
                           || string_agg(
                             format(case when p_merge and c.name = 'cric' then '%1$I = held.%1$I || excluded.%1$I'
                                         else '%1$I = excluded.%1$I' end, c.name), ', ' order by c.place)
                                              filter (where c.key_place is null
                                                      and (not p_merge or c.name = any (v_keys))), 'nothing'))
                else '' end)
    into v_text
    from resource.table_column(p_table) c
   cross join lateral (
     select case when c.kind = 'JSON' then format('nullif(e.row -> %L, ''null'')', c.name)
                        when c.kind = 'an array of texts' then
                          format('case when jsonb_typeof(e.row -> %1$L) = ''array'' '
                                 'then array(select jsonb_array_elements_text(e.row -> %1$L)) end', c.name)
                        when c.kind like 'an integer%' then format('(e.row ->> %L)::numeric::%s', c.name, c.type)
                        else format('(e.row ->> %L)::%s', c.name, c.type) end) v(value);
  return v_text;
end $$;

comment on function resource.insert_text(regclass, jsonb, boolean) is
  'The statement that upserts an array of objects ($2) into a table of the setup $1. Keys that a row leaves out get '
  'the defaults of the columns; with p_merge, where all rows have the same keys, they keep their values.';
