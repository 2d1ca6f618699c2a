-- A check that a value fails, in the words of the value: PostgreSQL names the constraint alone.
create or replace function resource.refusal(p_table regclass, p_constraint text, p_row jsonb) returns text
language sql stable
as $$
  select string_agg(format('%s is %s', a.attname, coalesce(left((p_row -> a.attname)::text, 100), 'not given')), ', ' order by a.attnum)
         || format(', not in %s', pg_get_expr(c.conbin, c.conrelid))
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
   where c.conrelid = p_table and c.conname = p_constraint and c.contype = 'c'
   group by c.conbin, c.conrelid
$$;

comment on function resource.refusal(regclass, text, jsonb) is
'What a check constraint has against a row: the key, the value, and the condition; null where it is no check constraint.';
