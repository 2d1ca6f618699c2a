-- The planner assumes that tables without statistics have a handful of rows; a batch would then take minutes instead of
-- seconds.
create or replace function brokerage.open_run(
  p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry_run boolean
) returns bigint
language plpgsql security definer set search_path = brokerage, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if exists (select from pg_class c
              where c.relnamespace in ('resource'::regnamespace, 'workload'::regnamespace) and c.relkind = 'r'
                and c.reltuples < 0 and pg_relation_size(c.oid) > 100000) then
    perform brokerage.refresh_statistics();
  end if;
  return (brokerage.begin_run(p_setup, p_algorithm, p_profile, p_seed, coalesce(p_dry_run, false))).run_id;
end $$;

comment on function brokerage.open_run(text, text, text, bigint, boolean) is
  'Begins a run and returns its number; brokerage.broker_jobs calls this function first. Errors: PB001 (no such setup '
  'or profile), PB002 (setup not granted).';
