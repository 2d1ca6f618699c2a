create or replace function lifecycle.condition_calls(p_setup text) returns text
language plpgsql stable as $$
begin
  return (
    select coalesce('case a.place ' || string_agg(format('when %s then coalesce(%s)', t.position, c.calls),
                                                  ' ') || ' end', 'null::text')
      from lifecycle.timeouts_of(p_setup) t
     cross join lateral (
       select string_agg(case when f.call like 'lifecycle.%' then f.call || '(a.facts)'
                              else format('lifecycle.guarded_condition(%L, a.facts)', f.call) end,
                         ', ' order by u.place) as calls
         from unnest(t.conditions) with ordinality u(name, place)
        cross join lateral lifecycle.condition_call(t.rule, u.name) f(call)) c
     where c.calls is not null);
end $$;

comment on function lifecycle.condition_calls(text) is
  'SQL that calls the conditions of the timeout at a.place on the facts a.facts: null if all hold, else the reason of '
  'the first that does not hold. Errors: PB001, PB002 (an own condition of the setup is refused).';
