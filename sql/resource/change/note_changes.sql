-- The trigger notes every change of a table of configuration, whichever statement makes it. Its arguments are the kind
-- of object, then the columns that name an object; a row of settings is named by its schema. An update notes only the
-- columns that changed. An insertion or a deletion notes only the columns that are not null.
create or replace function resource.note_changes() returns trigger
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  v_after jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  v_row jsonb := coalesce(v_after, v_before);
  v_name text := (select string_agg(v_row ->> a.name, ' ' order by a.n)
                    from unnest(tg_argv[1:]) with ordinality a (name, n));
begin
  if v_before = v_after then
    return null;
  end if;
  if tg_op = 'UPDATE' then
    select jsonb_object_agg(b.key, b.value), jsonb_object_agg(b.key, v_after -> b.key)
      into v_before, v_after
      from jsonb_each(v_before) b
     where b.value <> v_after -> b.key;
  else
    v_row := (select jsonb_object_agg(r.key, r.value) from jsonb_each(v_row) r where r.value <> 'null');
    v_before := case when v_before is not null then v_row end;
    v_after := case when v_after is not null then v_row end;
  end if;
  perform resource.note_change(v_row ->> 'setup', tg_argv[0], coalesce(v_name, tg_table_schema), v_before - 'setup',
                               v_after - 'setup');
  return null;
end $$;

comment on function resource.note_changes() is
  'Trigger of tables of configuration: records each change of a row and who made it, in resource.change.';
