-- A place is free again when no remaining sample has a value of its series.
create or replace function history.forget(p_setup text, p_now timestamptz) returns void
language plpgsql as $$
declare
  v_kept lifecycle.setting_in_force;
begin
  select * into v_kept from lifecycle.setting_in_force s where s.setup = p_setup;
  delete from history.sample s
   where s.setup = p_setup
     and s.at < p_now - case s.step when '1 day' then v_kept.day_samples_kept
                                    when '1 hour' then v_kept.hour_samples_kept else v_kept.minute_samples_kept end;
  delete from history.series s
   where s.setup = p_setup
     and s.last_at < p_now - interval '2 days' - greatest(v_kept.minute_samples_kept, v_kept.hour_samples_kept,
                                                          v_kept.day_samples_kept);
end $$;

comment on function history.forget(text, timestamptz) is
  'Removes samples that are older than the retention, and series without a sample.';
