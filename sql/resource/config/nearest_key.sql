create or replace function resource.nearest_key(p_component text, p_key text) returns text
language sql stable as $$
  select concat_ws(' ',
           coalesce((select format('Components that know the key: %s.', string_agg(distinct k.component, ', '))
                       from resource.config_key k
                      where p_key ~ k.pattern and p_component <> '' having count(*) > 0),
                    (select format('The nearest known key is %s:%s.', l.component, l.key)
                       from (select k.component, k.key, resource.similarity(p_key, k.key) as similarity
                               from resource.config_key k) l
                      where l.similarity > 0.4
                      order by l.similarity desc, l.component = p_component desc, l.component, l.key
                      limit 1)),
           'resource.config_key lists the known keys. A key of your own rules has to be forced: p_force => true, '
           'or "forced": true in a row of a world.')
$$;

comment on function resource.nearest_key(text, text) is
  'A hint for an unknown configuration key: the components that know the key, or the most similar known key, and how '
  'to set a key of one''s own.';
