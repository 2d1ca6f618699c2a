-- The live counter is dumped as the sums by queue that count now.
create or replace function brokerage.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform brokerage.world_table(p_table);
  return query
  select jsonb_build_object('queue', c.queue, 'jobs', sum(c.jobs))
    from brokerage.live_count c
   where c.setup = p_setup
   group by c.queue
   order by c.queue collate "C";
end $$;

comment on function brokerage.dump(text, text) is
  'The rows of the table live_counter as objects, as brokerage.store takes them: the jobs of each queue that count '
  'now. Errors: PB001 (no such table), PB002 (setup not granted).';
