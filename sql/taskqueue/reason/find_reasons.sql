-- MATCHING.md, Reasons. The search looks for a resource that fits and has no limit reached, among the kinds seen
-- lately, beginning with the last one that got a job, and ends with the first hit. Only requirements that no resource
-- fits are compared with every kind, once; a later kind is compared with them (taskqueue.note_kinds). The reason is
-- found again after a quarter of an hour, since another kind may have got a job, and in every call if it depends on
-- limits or on the age of the kind.
create or replace function taskqueue.find_reasons(p_setup text, p_time interval default '500 milliseconds')
returns table (step text, changed bigint)
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_end timestamptz;
  v_now timestamptz := resource.clock(p_setup);
  v_seen_since timestamptz;
  v_due bigint[];
  v_chunk int := 50;
  v_done int := 0;
  v_began timestamptz;
begin
  perform resource.identify(p_setup);
  if p_time is null or p_time not between interval '0' and interval '1 day' then
    raise exception 'time is %, which is not a valid time', coalesce(p_time::text, 'null')
      using errcode = 'PB001', hint = 'Give an interval such as 500 milliseconds, of at most a day.';
  end if;
  v_end := clock_timestamp() + p_time;
  perform taskqueue.enter_setup(p_setup);
  if not pg_try_advisory_xact_lock(hashtext('taskqueue.find_reasons'), hashtext(p_setup)) then
    return;
  end if;
  select v_now - s.resource_time into v_seen_since from taskqueue.setting s where s.setup = p_setup;
  step := 'requirements without jobs';
  delete from taskqueue.waiting_reason r
   where r.setup = p_setup
     and not exists (select from taskqueue.task_queue q
                      where q.setup = r.setup and q.definition_id = r.definition_id);
  get diagnostics changed = row_count;
  return next;
  step := 'new kinds of resources';
  changed := taskqueue.note_kinds(p_setup, v_now, v_end);
  return next;
  step := 'reasons';
  changed := 0;
  v_due := array(
    select w.definition_id
      from (select distinct q.definition_id from taskqueue.task_queue q where q.setup = p_setup) w
      left join taskqueue.waiting_reason r on r.setup = p_setup and r.definition_id = w.definition_id
      left join taskqueue.resource_class c on c.setup = p_setup and c.class = r.class
      left join taskqueue.kind_offer k on k.setup = p_setup and k.class = r.class
     where r.found_at is null
        or r.reason in ('waiting', 'limited')
           and ((k.offer).limited or (c.last_seen > v_seen_since) is not true
                -- a kind notes its matches every 5 to 15 minutes (taskqueue.shall_note_resource)
                or r.found_at not between v_now - interval '15 minutes' and v_now)
        or r.reason = 'too_large' and c.class is null
     order by r.found_at nulls first, w.definition_id);
  -- note_kinds leaves out kinds only when the time is up, so a search sees every kind
  while v_done < cardinality(v_due) and clock_timestamp() < v_end loop
    v_began := clock_timestamp();
    changed := changed + taskqueue.search_reasons(p_setup, v_due[v_done + 1 : v_done + v_chunk], v_seen_since, v_now);
    v_done := v_done + v_chunk;
    -- each search sorts all kinds first, so there are as few searches as the rest of the time allows
    v_chunk := greatest(50, least(10 * v_chunk, 100000,
                                  v_chunk * extract(epoch from v_end - clock_timestamp())
                                  / greatest(extract(epoch from clock_timestamp() - v_began), 0.001)))::int;
  end loop;
  return next;
  step := 'left for the next call';
  changed := greatest(cardinality(v_due) - v_done, 0);
  return next;
end $$;

comment on function taskqueue.find_reasons(text, interval) is
  'Finds why the jobs of each set of requirements wait (taskqueue.waiting_reason), for about p_time. A call during '
  'another one in the setup does nothing. Returns a row per step with the number of changes. `broker run` calls '
  'it every few seconds (loop summarize). Errors: PB001 (p_time), PB002 (setup not granted).';
