-- A snapshot taken before the setup was entered has outdated limits, CPU buckets and leases.
create or replace function resource.require_read_committed() returns void
language plpgsql stable as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the transaction is %', current_setting('transaction_isolation')
      using errcode = 'PB001', hint = 'Call it in READ COMMITTED, PostgreSQL''s default.';
  end if;
end $$;

comment on function resource.require_read_committed() is
  'Refuses a transaction that keeps one snapshot for all its statements. Errors: PB001.';
