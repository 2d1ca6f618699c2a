-- A task and a nucleus with the work of tasks that this batch sent there since the facts were made.
create or replace function brokerage.with_work(p brokerage.pair_facts, p_work float8) returns brokerage.pair_facts
language plpgsql immutable parallel safe
as $$
begin
  p.remaining_work := p.remaining_work + p_work;
  return p;
end $$;

comment on function brokerage.with_work(brokerage.pair_facts, float8) is 'Facts of a task and a nucleus to whose remaining work some was added.';
