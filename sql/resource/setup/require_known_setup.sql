create or replace function resource.require_known_setup(p_setup text) returns void
language plpgsql stable as $$
begin
  if not exists (select from resource.setup s where s.setup = p_setup) then
    raise exception 'there is no setup %', coalesce(quote_literal(left(p_setup, 100)), 'null')
      using errcode = 'PB001',
            hint = coalesce((select format('There are: %s%s.',
                                           string_agg(s.setup, ', ' order by s.setup) filter (where s.number <= 20),
                                           case when count(*) > 20 then ', ...' end)
                               from (select x.setup, row_number() over (order by x.setup) as number
                                       from resource.setup x) s having count(*) > 0),
                            'There is none yet: load a world (broker load).');
  end if;
end $$;

comment on function resource.require_known_setup(text) is
  'Refuses a setup that does not exist, and lists the setups. Errors: PB001.';
