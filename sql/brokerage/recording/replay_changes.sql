-- If a replay by the same rules differs and no function has changed, the program has an error.
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
              from brokerage.recorded(p_setup, p_since, p_until, p_run_id) t) t
     cross join lateral jsonb_each_text(brokerage.noted_value(p_setup, t.day, t.program)) e
  ), present as materialized (
    select e.key, e.value
      from jsonb_each_text(brokerage.program_of(array(select distinct split_part(r.key, '.', 1) from recorded r))) e
  )
  select coalesce(r.key, p.key), case when p.key is null then 'gone' when r.key is null then 'new' else 'changed' end
    from recorded r
    full join present p on p.key = r.key
   where p.value is distinct from r.value
   order by 1;
end $$;

comment on function brokerage.replay_changes(text, interval, interval, bigint) is
  'Functions of the deciding schemas that are changed, new or gone since the runs between p_since and p_until ago. '
  'Errors: PB002 (setup not granted).';
