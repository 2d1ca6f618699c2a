-- A key is known for the component that reads it, and for all components.
create or replace function resource.known_key(p_component text, p_key text)
returns table (app text, component text, key text, type text, unit text, meaning text, zero_is_default boolean)
language sql stable as $$
  select k.app, k.component, k.key, k.type, k.unit, k.meaning, k.zero_is_default
    from resource.config_key k
   where (k.key = p_key or k.key like '%<%' and p_key ~ k.pattern) and p_component in ('', k.component)
     and length(p_key) <= 200  -- no longer key can be set
   order by k.key = p_key desc, length(k.key) desc, k.component
   limit 1
$$;

comment on function resource.known_key(text, text) is
  'The known configuration key that a key matches, an exact key before a pattern. There is no row if the key is not '
  'known.';
