-- See facts-and-formulas.md, catchall-lookup. Keys are compared as a whole. Most queues have no catchall; for these,
-- plpgsql returns without a query, which would take 25 us.
create or replace function resource.catchall(p_catchall text) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  if coalesce(p_catchall, '') = '' then
    return '{}'::jsonb;
  end if;
  return (
    select coalesce(jsonb_object_agg(btrim(split_part(i.item, '=', 1)),
                                     case when i.item like '%=%'
                                          then to_jsonb(btrim(substr(i.item, strpos(i.item, '=') + 1)))
                                          else 'true'::jsonb end), '{}')
      from string_to_table(p_catchall, ',') i(item)
     where btrim(split_part(i.item, '=', 1)) <> '');
end $$;

comment on function resource.catchall(text) is
  'A catchall of CRIC as an object. Items are separated by commas; flags become true, key=value items become texts, '
  'and the last of equal keys counts. The result is {} for null or an empty text.';
