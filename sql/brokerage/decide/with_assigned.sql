-- brokerage.assigned_before reads this text in the next turn.
create or replace function brokerage.with_assigned(p_assigned text, p_numbers bigint[], p_given float8[]) returns text
language plpgsql immutable parallel safe as $$
declare
  v_assigned float8[] := p_assigned::float8[];
begin
  for i in 1 .. cardinality(p_numbers) loop
    if p_given[i] > 0 then
      v_assigned[p_numbers[i]] := coalesce(v_assigned[p_numbers[i]], 0) + p_given[i];
    end if;
  end loop;
  return v_assigned::text;
end $$;

comment on function brokerage.with_assigned(text, bigint[], float8[]) is
  'The assignments of a batch by the number of the queue or nucleus, with those of one more task added.';
