-- This function checks arrays of objects with given keys, as resource.check_rows checks the rows of tables.
create or replace function resource.check_keys(p_what text, p_rows jsonb, p_kinds jsonb) returns void
language plpgsql immutable as $$
declare
  v_bad record;
begin
  if jsonb_typeof(p_rows) is distinct from 'array' then
    raise exception '%s are %, not a JSON array', p_what, coalesce(resource.shown(p_rows), 'null')
      using errcode = 'PB001', hint = 'Give an array of objects.';
  end if;
  select e.place, e.row, k.key, k.value, p_kinds ->> k.key as kind into v_bad
    from jsonb_array_elements(p_rows) with ordinality e(row, place)
    left join lateral jsonb_each(case jsonb_typeof(e.row) when 'object' then e.row end) k(key, value) on true
   where jsonb_typeof(e.row) <> 'object' or not p_kinds ? k.key or not resource.suits(p_kinds ->> k.key, k.value)
   order by e.place, k.key limit 1;
  if found and v_bad.key is null and jsonb_typeof(v_bad.row) <> 'object' then
    raise exception '% number % is %, not an object', p_what, v_bad.place, resource.shown(v_bad.row)
      using errcode = 'PB001', hint = 'Give an array of objects.';
  elsif found and v_bad.kind is null then
    raise exception '% number %: key % is not known', p_what, v_bad.place, resource.shown(to_jsonb(v_bad.key))
      using errcode = 'PB001',
            hint = format('Keys are %s.', (select string_agg(k, ', ' order by k) from jsonb_object_keys(p_kinds) k));
  elsif found then
    raise exception '% number %: % is %, not %', p_what, v_bad.place, v_bad.key, resource.shown(v_bad.value), v_bad.kind
      using errcode = 'PB001', hint = 'A null value means that the key is not set.';
  end if;
end $$;

comment on function resource.check_keys(text, jsonb, jsonb) is
  'Refuses anything but an array of objects with the keys of p_kinds, whose values are of the kinds given there (as '
  'resource.suits knows them). p_what names an element in errors. Errors: PB001, naming the key and the value.';
