create or replace function lifecycle.stand_down(p_holder uuid) returns bigint
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_loops bigint;
begin
  perform from lifecycle.loop l where l.holder = p_holder order by l.setup, l.name for update;  -- as lifecycle.lead
  update lifecycle.loop l set holder = null, expires_at = clock_timestamp() where l.holder = p_holder;
  get diagnostics v_loops = row_count;
  return v_loops;
end $$;

comment on function lifecycle.stand_down(uuid) is
  'Gives up all leads of a holder before they expire, so that another process takes them at once; returns the number '
  'of leads.';
