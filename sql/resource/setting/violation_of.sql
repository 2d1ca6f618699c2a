create or replace function resource.violation_of(p_table regclass, p_column text, p_constraint text, p_message text)
returns text
language sql stable as $$
  select case when p_column <> '' then 'has no ' || p_column
              else 'is not ' || coalesce((select obj_description(c.oid, 'pg_constraint') from pg_constraint c
                                           where c.conrelid = p_table and c.conname = p_constraint), p_message) end
$$;

comment on function resource.violation_of(regclass, text, text, text) is
  'The reason why a table refuses a row, in words: the column that must not be null, else the comment of the '
  'constraint, else the message of the database.';
