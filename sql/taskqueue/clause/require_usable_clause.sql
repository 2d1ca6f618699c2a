create or replace function taskqueue.require_usable_clause(p_clause jsonb, p_size int) returns void
language plpgsql immutable as $$
begin
  if octet_length(p_clause::text) > 2000 or p_size > 2000 then
    raise exception '%', case when p_size > 2000 then 'the clauses list over 2000 values'
                              else format('a clause has %s bytes, at most 2000', octet_length(p_clause::text)) end
      using errcode = 'PB001', hint = format('Use fewer alternatives, or shorter lists. The clause is %s...',
                                             left(p_clause::text, 200));
  elsif p_clause @? 'strict $.Attributes.* ? (@.size() > 64)' then
    raise exception 'a clause has over 64 ranges of an attribute'
      using errcode = 'PB001', hint = 'Use fewer ranges, or larger ones.';
  elsif p_clause - 'Attributes' = '{}'
        and not exists (select from jsonb_each(p_clause -> 'Attributes') a where a.value <> '[]') then
    raise exception 'the conditions cannot be met: no value of % would do',
      (select string_agg(k, ' or ' order by k) from jsonb_object_keys(p_clause -> 'Attributes') k)
      using errcode = 'PB001', hint = 'Only a resource that does not give the attribute could meet them.';
  end if;
end $$;

comment on function taskqueue.require_usable_clause(jsonb, int) is
  'Refuses a clause that is too large, alone or with those before it (p_size values in all), that has too many '
  'ranges, or that only a resource without an attribute would meet. Errors: PB001.';
