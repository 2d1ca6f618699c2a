-- GUARD.md, Reading the history. The lock of the mark excludes a second round at the same time.
create or replace function taskqueue.guard(p_setup text, p_limit int default 100000)
returns table (action text, kind text, site text, name text, why text)
language plpgsql security definer set search_path = taskqueue, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_now timestamptz := resource.clock(p_setup);
  v_setting taskqueue.setting;
  v_mark taskqueue.guard_mark;
  v_read record;
  v_is_first boolean := false;
  v_failing taskqueue.health[];
begin
  perform resource.require_primary();
  perform resource.identify(p_setup);
  if p_limit is null or p_limit not between 1 and 100000 then
    raise exception 'limit is %, not within 1 and 100000', coalesce(p_limit::text, 'null')
      using errcode = 'PB001', hint = 'Leave it out: 100000 ends are counted in a round.';
  end if;
  perform taskqueue.enter_setup(p_setup);
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  if v_setting.setup is null then
    return;
  elsif v_setting.guard = 'off' then
    delete from taskqueue.guard_mark m where m.setup = p_setup;
    return query select 'lifted', q.* from taskqueue.drop_quarantines(p_setup, v_now, true) q;
    return;
  end if;
  select m.* into v_mark from taskqueue.guard_mark m where m.setup = p_setup for update skip locked;
  if v_mark is null and exists (select from taskqueue.guard_mark m where m.setup = p_setup) then
    return;
  elsif v_mark is null
        or v_mark.known_to > pg_snapshot_xmax(pg_current_snapshot())::text::bigint then  -- the mark of another server
    delete from taskqueue.guard_mark m where m.setup = v_mark.setup;
    insert into taskqueue.guard_mark (setup, known_to, since, next_to, next_at, read_at)
    select p_setup, pg_snapshot_xmin(s)::text::bigint, v_now, pg_snapshot_xmax(s)::text::bigint, v_now, v_now
      from pg_current_snapshot() s
    on conflict do nothing
    returning * into v_mark;
    if not found then
      return;
    end if;
    v_is_first := true;
  end if;
  v_read := taskqueue.read_ends(v_mark, v_now, case when v_is_first then 2147483647 else p_limit end);
  update taskqueue.guard_mark m
     set known_to = n.known_to, counted = n.counted, since = n.since, next_to = n.next_to, next_at = n.next_at,
         read_at = n.read_at
    from (select (v_read.mark).*) n
   where m.setup = p_setup;
  if v_is_first then  -- ends that are committed already are not counted
    return;
  end if;
  v_failing := array(
    select h from taskqueue.count_ends(p_setup, v_read.ends, v_setting.guard_score, v_now) h);
  v_failing := array(select h from taskqueue.failing_hosts(v_failing, v_setting.guard_score, v_now) h);
  if date_trunc('minute', v_mark.read_at) <> date_trunc('minute', v_now) then
    delete from taskqueue.health h where h.setup = p_setup and h.changed_at < v_now - interval '1 day';
  end if;
  return query select * from taskqueue.judge_probes(p_setup, v_now);
  return query select 'lifted', q.* from taskqueue.drop_quarantines(p_setup, v_now, false) q;
  return query select * from taskqueue.judge_hosts(v_setting, v_failing, v_read.ends, v_now);
end $$;

comment on function taskqueue.guard(text, int) is
  'One round of the guard of a setup: counts the ends of jobs since the last round, quarantines worker nodes that fail '
  'their jobs, and judges the probes of quarantined worker nodes. p_limit (1..100000): ends to count. With the setting '
  'guard = watch, it refuses no worker node. Returns a row per change: quarantined, watched, named (a site), lifted, '
  'probed (a probe did not lift the quarantine). Errors: PB001, PB002 (setup not granted).';
