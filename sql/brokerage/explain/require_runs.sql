create or replace function brokerage.require_runs(p_setup text, p_run_ids bigint[]) returns void
language plpgsql stable as $$
declare
  v_missing text;
begin
  select coalesce(u.run_id::text, 'null') into v_missing from unnest(p_run_ids) u(run_id)
   where not exists (select from brokerage.run r where r.setup = p_setup and r.run_id = u.run_id) limit 1;
  if found then
    raise exception 'run % is not in setup %', v_missing, p_setup
      using errcode = 'PB004', hint = 'brokerage.outcomes lists the runs.';
  end if;
end $$;

comment on function brokerage.require_runs(text, bigint[]) is
  'Refuses runs that do not exist in the setup. Errors: PB004.';
