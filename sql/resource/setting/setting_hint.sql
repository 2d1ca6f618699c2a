create or replace function resource.setting_hint(p_table regclass, p_key text) returns text
language sql stable as $$
  select format('%s: %s Allowed: %s.', c.name, c.meaning, c.allowed)
    from resource.setting_column c
   where c.source = p_table and c.name = p_key
$$;

comment on function resource.setting_hint(regclass, text) is
  'The meaning and the allowed values of a setting, from the comments of its column and of its checks.';
