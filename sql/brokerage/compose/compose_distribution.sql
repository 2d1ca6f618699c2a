create or replace function brokerage.compose_distribution(c brokerage.composition, p_step brokerage.plan_step[])
returns brokerage.composition
language plpgsql stable as $$
begin
  c.distribution := c.distribution || (
    select jsonb_object_agg(r.rule, format('case when %s then %s end', brokerage.compose_alive(c.alone), r.call))
      from unnest(p_step) r);
  return c;
end $$;

comment on function brokerage.compose_distribution(brokerage.composition, brokerage.plan_step[]) is
  'Adds to a query the numbers by which jobs are distributed, for pairs that no rule of a single pair rejects.';
