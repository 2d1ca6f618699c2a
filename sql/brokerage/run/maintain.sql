create or replace function brokerage.maintain() returns table (step text, changed bigint)
language plpgsql security definer set search_path = brokerage, pg_temp as $$
begin
  step := 'decision partitions';
  changed := 0;
  begin
    changed := brokerage.keep_decisions();
  exception when lock_not_available then
    null;  -- a long transaction is reading the decisions, so the next call tries again
  end;
  return next;
end $$;

comment on function brokerage.maintain() is
  'Background work of brokerage: makes and drops partitions of the decisions, keeps counts of dropped decisions, '
  'removes old runs. Two simultaneous calls are safe.';
