-- LEASES.md, Configuration calls: the exclusive side of taskqueue.enter_setup. The call gives way to agents, which wait
-- behind it for at most 300 ms at a time.
create or replace function taskqueue.reconfigure(p_setup text) returns void
language plpgsql set lock_timeout = '300ms' as $$
begin
  perform resource.require_read_committed();
  perform resource.require_primary();
  for v_try in 1..10 loop
    begin
      perform pg_advisory_xact_lock(hashtext('taskqueue'), hashtext(p_setup));
      return;
    exception when lock_not_available then
      perform pg_sleep(0.05 + 0.1 * random());
    end;
  end loop;
  raise exception 'setup % is busy: a transaction there has been open for over 3 s', p_setup
    using errcode = 'PB006', hint = 'Try again; pg_stat_activity lists the transactions that stay open.';
end $$;

comment on function taskqueue.reconfigure(text) is
  'Keeps matching, inserting and returning calls out of the setup until the transaction ends. Errors: PB001 (isolation '
  'level), PB006 (open transactions do not end), 25006 (a standby).';
