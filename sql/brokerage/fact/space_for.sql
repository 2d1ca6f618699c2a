-- task-brokerage.md, nucleus-space.
create or replace function brokerage.space_for(p_work float8) returns float8
language sql immutable parallel safe as $$
  select 0.25 * p_work / (10 * 86400)
$$;

comment on function brokerage.space_for(float8) is
  'Output of an amount of work (HS06 s), in GB: 0.25 GB per day on a core of 10 HS06 (normalizedExpOutSize).';
