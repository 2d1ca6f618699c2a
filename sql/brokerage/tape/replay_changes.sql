-- Which functions are not those that decided: a difference without one is an error of the program.
create or replace function brokerage.replay_changes(
  p_setup text, p_since interval default null, p_until interval default null, p_run_id bigint default null
) returns table (function text, change text)
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  return query
  with recorded as materialized (
    select distinct e.key, e.value
      from (select distinct date_trunc('day', t.decided_at, 'utc') as day, t.program
              from brokerage.tape t
             where t.setup = p_setup and (p_since is null or t.decided_at >= resource.clock(p_setup) - p_since)
               and (p_until is null or t.decided_at < resource.clock(p_setup) - p_until)
               and (p_run_id is null or t.run_id = p_run_id)) t
     cross join lateral jsonb_each_text(brokerage.noted_value(p_setup, t.day, t.program)) e
  ), present as materialized (
    select format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as key,
           md5(pg_get_functiondef(p.oid)) as value
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     where p.prokind in ('f', 'p') and n.nspname in (select split_part(r.key, '.', 1) from recorded r)
  )
  select coalesce(t.key, n.key), case when n.key is null then 'gone' when t.key is null then 'new' else 'changed' end
    from recorded t
    full join present n on n.key = t.key
   where n.value is distinct from t.value
     and exists (select from recorded)
   order by 1;
end $$;

comment on function brokerage.replay_changes(text, interval, interval, bigint) is
  'Functions of the schemas that decide which are not as they were when the runs between p_since and p_until ago '
  'decided: changed, new or gone. Errors: PB002 (setup not granted).';
