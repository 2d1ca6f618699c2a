-- The hint of a misspelt key: the component that knows it, or the known key that is most like it.
create or replace function resource.nearest_key(p_component text, p_key text) returns text
language sql stable
as $$
  select concat_ws(' ',
           coalesce((select format('Components that know it: %s.', string_agg(distinct k.component, ', '))
                       from resource.config_key k
                      where p_key ~ k.pattern and p_component <> '' having count(*) > 0),
                    (select format('The nearest known key is %s:%s.', l.component, l.key)
                       from (select k.component, k.key, resource.similarity(p_key, k.key) as likeness
                               from resource.config_key k) l
                      where l.likeness > 0.4
                      order by l.likeness desc, l.component = p_component desc, l.component, l.key
                      limit 1)),
           'All known ones: resource.config_key. A key of your own rules has to be forced: p_force => true, '
           'or "forced": true in a row of a world.')
$$;

comment on function resource.nearest_key(text, text) is
  'A hint for a configuration key that is not known: the components that know it, or the known key that is most like '
  'it, and how keys of one''s own are set.';
