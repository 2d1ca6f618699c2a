-- Leadership is a row that expires, by the server's clock. No session holds it, so it works behind PgBouncer, and a
-- process that dies loses it automatically. If the renewal time is in the future, the clock was set back.
-- The beats of all loops come in one statement: a row is written once in a few seconds, however short the period is.
create or replace function lifecycle.lead(
  p_setup text, p_holder uuid, p_held_by text, p_for interval, p_loops jsonb
) returns table (name text, leads boolean, leader text, until timestamptz)
language plpgsql security definer set search_path = lifecycle, pg_temp set lock_timeout = '2s' as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_loop record;
begin
  if p_holder is null or p_held_by is null or p_for is null or p_for <= interval '0'
     or p_for > interval '100 years' then
    raise exception 'holder, held_by or time is null, or the time % is not above 0 and at most 100 years', p_for
      using errcode = 'PB001', hint = 'Name who leads (a uuid and words), and for how long.';
  end if;
  perform resource.check_keys('loop', p_loops, '{"name": "a text", "period": "a number", "began": "a number",
    "ended": "a number", "errors": "an object of texts"}');
  select e.* into v_loop
    from (select *, count(*) over (partition by name) as times
            from jsonb_to_recordset(p_loops) l (name text, period numeric, began numeric, ended numeric)) e
   where e.name is null or octet_length(e.name) > 300 or e.times > 1 or e.period is null
      or e.period not between 1e-6 and 1e9 or abs(e.began) > 1e9 or abs(e.ended) > 1e9
   limit 1;
  if found then
    raise exception 'loop % has period %, began % and ended % seconds ago, and is named % times',
      coalesce(left(v_loop.name, 100), 'null'), coalesce(v_loop.period::text, 'null'), v_loop.began, v_loop.ended,
      v_loop.times
      using errcode = 'PB001', hint = 'A loop has a name, given once, and a period; seconds are at most 1e9.';
  end if;
  if p_setup is not null then
    perform resource.identify(p_setup);
    perform resource.require_known_setup(p_setup);
  else
    perform resource.require_own('a loop of all setups', array(select s.setup from resource.setup s));
  end if;
  insert into lifecycle.loop as l
    (setup, name, holder, held_by, renewed_at, expires_at, period, began_at, ended_at, errors, failing_since)
  select p_setup, e.name, p_holder, p_held_by, v_now, v_now + p_for, make_interval(secs => e.period),
         v_now - make_interval(secs => e.began), v_now - make_interval(secs => e.ended), nullif(e.errors, '{}'),
         case when e.errors <> '{}' then v_now end
    from jsonb_to_recordset(p_loops) e (name text, period float8, began float8, ended float8, errors jsonb)
   order by e.name
  on conflict (setup, name) do update
     set holder = excluded.holder, held_by = excluded.held_by, renewed_at = excluded.renewed_at,
         expires_at = excluded.expires_at, period = excluded.period,
         began_at = coalesce(excluded.began_at, l.began_at), ended_at = coalesce(excluded.ended_at, l.ended_at),
         errors = case when excluded.ended_at is null then l.errors else excluded.errors end,
         failing_since = case when excluded.ended_at is null then l.failing_since
                              when excluded.errors is not null
                              then coalesce(l.failing_since, excluded.failing_since) end
     where l.holder is null or l.holder = excluded.holder or l.expires_at < v_now or l.renewed_at > v_now + p_for;
  return query
  select l.name, coalesce(l.holder = p_holder, false), l.held_by, l.expires_at
    from lifecycle.loop l
    join jsonb_to_recordset(p_loops) e (name text) on e.name = l.name
   where l.setup is not distinct from p_setup
   order by l.name;
end $$;

comment on function lifecycle.lead(text, uuid, text, interval, jsonb) is
  'Takes or renews the lead of loops of a setup, or of all setups (null), unless another process has it. p_loops is '
  '[{name, period, began, ended, errors}]: the period in seconds, how many seconds ago the last round began and '
  'ended, and its errors by setup (by an empty text: of the whole round). Returns for each loop whether the caller '
  'leads, and the leader with the time until which it leads. Errors: PB001 (also no such setup), PB002 (setup not '
  'granted), 55P03 (a loop is locked).';
