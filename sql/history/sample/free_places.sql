create or replace function history.free_places(p_setup text, p_number int)
returns table (place int, n bigint)
language sql stable as $$
  select p.place, row_number() over (order by p.place)
    from generate_series(1, p_number + (select count(*) from history.series s where s.setup = p_setup)::int) p (place)
   where not exists (select from history.series s where s.setup = p_setup and s.place = p.place)
   order by p.place limit p_number
$$;

comment on function history.free_places(text, int) is 'The lowest places in the samples of a setup that no series has.';
