create or replace function brokerage.close_run(p_setup text, p_run_id bigint) returns void
language plpgsql security definer set search_path = brokerage, pg_temp as $$
begin
  perform resource.identify(p_setup);
  update brokerage.run r
     set ended_at = resource.clock(p_setup)
   where r.setup = p_setup and r.run_id = p_run_id and r.ended_at is null;
end $$;

comment on function brokerage.close_run(text, bigint) is
  'Ends a run; brokerage.broker_jobs calls this function last. Errors: PB002 (setup not granted).';
