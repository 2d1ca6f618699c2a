-- See conventions.md, Units: kB, MB and GB of disk are powers of 1024. PerEvent after a unit is ignored here.
create or replace function resource.bytes_of_unit(p_unit text) returns float8
language sql immutable parallel safe as $$
  select case upper(left(coalesce(p_unit, ''), 1)) when 'K' then 1024::float8
                                                   when 'M' then 1048576
                                                   when 'G' then 1073741824
                                                   when 'T' then 1099511627776
                                                   else 1 end
$$;

comment on function resource.bytes_of_unit(text) is
  'Number of bytes in a unit: B, kB, MB, GB, TB, with or without PerEvent. Null or any other unit is read as bytes.';
