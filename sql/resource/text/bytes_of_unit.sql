-- PanDA's units of disk: kB, MB, GB are powers of 1024 (G6); PerEvent behind them says what they are counted by.
create or replace function resource.bytes_of_unit(p_unit text) returns float8
language sql immutable parallel safe
as $$
  select case upper(left(coalesce(p_unit, ''), 1)) when 'K' then 1024::float8
                                                   when 'M' then 1048576
                                                   when 'G' then 1073741824
                                                   when 'T' then 1099511627776
                                                   else 1 end
$$;

comment on function resource.bytes_of_unit(text) is
  'Bytes of a unit: B, kB, MB, GB, TB, with PerEvent behind or not; null or anything else counts bytes.';
