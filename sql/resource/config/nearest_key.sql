-- The hint of a misspelt key: the known keys that share most pairs of neighbouring letters with it.
-- after: resource.config_key
create or replace function resource.nearest_key(p_component text, p_key text) returns text
language sql stable
as $$
  select coalesce((select format('Components that know it: %s.', string_agg(distinct k.component, ', ')) from resource.config_key k
                    where p_key ~ k.pattern and p_component <> '' having count(*) > 0),
                  (select format('The nearest known key is %s:%s. Keys of your own rules are set with p_force; all known ones: resource.config_key.', k.component, k.key)
                     from resource.config_key k
                    order by (select count(*) from generate_series(1, length(p_key) - 1) i
                               where position(substr(upper(p_key), i::int, 2) in upper(k.key)) > 0) * 2.0 / (length(p_key) + length(k.key)) desc,
                             k.component = p_component desc, k.component, k.key
                    limit 1))
$$;

comment on function resource.nearest_key(text, text) is
'A hint for a configuration key that is not known: the components that know it, or the known key that is most like it.';
