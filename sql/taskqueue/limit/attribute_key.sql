-- LEASES.md, Limits: a limit on an unknown attribute is refused when it is set. The view taskqueue.requirement_key
-- lists the keys.
create or replace function taskqueue.attribute_key(p_attribute text) returns text
language plpgsql stable as $$
declare
  v_key text;
begin
  select k.canonical_key into v_key
    from taskqueue.requirement_key k
   where k.key in (p_attribute, p_attribute || 's') and k.canonical_key is not null and k.type <> 'clauses';
  if v_key is null then
    raise exception 'unknown attribute %', coalesce(quote_literal(p_attribute), 'null')
      using errcode = 'PB001',
            hint = (select format('%sAttributes are %s, and their singular forms.',
                                  'The nearest is ' || resource.nearest_name(p_attribute, array_agg(k.key)) || '. ',
                                  string_agg(k.key, ', '))
                      from taskqueue.requirement_key k
                     where k.canonical_key is not null and k.type <> 'clauses');
  end if;
  return v_key;
end $$;

comment on function taskqueue.attribute_key(text) is
  'The requirement key that the attribute of a limit names (JobType: JobTypes). Errors: PB001.';
