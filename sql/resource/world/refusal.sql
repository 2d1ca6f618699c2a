-- PostgreSQL names only the constraint. The comment of a check constraint describes the allowed values.
create or replace function resource.refusal(
  p_table regclass, p_constraint text, p_column text, p_row jsonb, out reason text, out meaning text
)
language sql stable as $$
  select string_agg(format('%s is %s', a.attname,
                           coalesce(resource.shown(p_row -> a.attname),
                                    case when p_constraint = '' then 'not given' else 'left out' end)),
                    ', ' order by a.attnum)
           || case when p_constraint = '' then ', and has no default'
                   else format(', not %s', coalesce(max(obj_description(c.oid, 'pg_constraint')),
                                                    'as ' || max(pg_get_expr(c.conbin, c.conrelid)))) end,
         string_agg(format('%s: %s', a.attname, col_description(a.attrelid, a.attnum)), ' ' order by a.attnum)
    from pg_attribute a
    left join pg_constraint c on c.conrelid = p_table and c.conname = p_constraint and c.contype = 'c'
   where a.attrelid = p_table and (a.attnum = any (c.conkey) or p_constraint = '' and a.attname = p_column)
$$;

comment on function resource.refusal(regclass, text, text, jsonb) is
  'The reason why a check constraint refuses a row, or (without a constraint) a column that must not be null: the key, '
  'the value and the allowed values; and the meaning of the column. The result is null for other errors.';
