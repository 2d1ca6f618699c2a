create or replace function taskqueue.list_of(p_requirements jsonb, p_key text) returns text[]
language plpgsql immutable as $$
begin
  if p_requirements ? p_key then
    return array(select e from jsonb_array_elements_text(p_requirements -> p_key) e order by 1);
  end if;
  return '{}'::text[];  -- most of the nine lists are absent, so this case runs no query
end $$;

comment on function taskqueue.list_of(jsonb, text) is
  'The values of a list of canonical requirements, sorted; empty where the list is absent.';
