create or replace function brokerage.requirement_text(p_requirement jsonb) returns text
language sql immutable parallel safe as $$
  select case jsonb_typeof(p_requirement)
    when 'array'
    then (select string_agg(concat_ws('-', s ->> 'arch', nullif(s ->> 'vendor', '*'), nullif(s ->> 'instr', '*')),
                            ' or ' order by n)
            from jsonb_array_elements(p_requirement) with ordinality a(s, n))
    else (select coalesce(string_agg(replace(v.key, '_', ' ')
                                     || case when v.value -> 'excl' = 'true' then ' other than ' else ' ' end
                                     || coalesce(v.value ->> 'pattern', v.value #>> '{}'), ', ' order by v.key),
                          'of any kind')
            from jsonb_each(p_requirement) v where v.value <> '"*"')
  end
$$;

comment on function brokerage.requirement_text(jsonb) is
  'A CPU requirement (alternatives) or a GPU requirement (attributes) as text, for reasons.';
