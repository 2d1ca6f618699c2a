create or replace function brokerage.in_second_pass(t brokerage.task_facts) returns brokerage.task_facts
language plpgsql immutable parallel safe as $$
begin
  t.second_pass := true;
  return t;
end $$;

comment on function brokerage.in_second_pass(brokerage.task_facts) is 'Facts of a task that is decided once more.';
