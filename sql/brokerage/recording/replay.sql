-- Tasks are decided again from the recorded facts, and compared. Within a part the decisions influence each other as
-- they did in the run; the facts of later parts stay as recorded. The time limit is checked between two parts. Rows
-- have the order of the parts, and of the tasks of a part. Long because a task may differ in many ways.
create or replace function brokerage.replay(
  p_setup text, p_since interval default null, p_until interval default null, p_run_id bigint default null,
  p_profile text default null, p_changes jsonb default '{}', p_without text[] default '{}'
) returns table (run_id bigint, task_id bigint, algorithm text, differs text[], status_before text, status_after text,
                 gained text[], lost text[], jobs_before jsonb, jobs_after jsonb)
language plpgsql volatile
security definer set search_path = brokerage, pg_temp
set jit = off set enable_mergejoin = off set enable_memoize = off set cursor_tuple_fraction = 1 set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
  v_begin timestamptz := clock_timestamp();
  v_time interval;
  v_recording brokerage.recording;
  v_algorithm text;
  v_recorded brokerage.profile_rule[];
  v_rules brokerage.profile_rule[];
  v_parts bigint := 0;
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  v_time := (select s.replay_time from brokerage.setting_in_force s where s.setup = p_setup);
  if jsonb_typeof(p_changes) <> 'object'
     or exists (select from jsonb_each(p_changes) c where jsonb_typeof(c.value) <> 'object') then
    raise exception 'changes are %', resource.shown(p_changes)
      using errcode = 'PB001', hint = 'Give an object of rules with their parameters: {"memory": {"share": 1.1}}.';
  end if;
  if p_run_id is not null
     and not exists (select from brokerage.run r where r.setup = p_setup and r.run_id = p_run_id) then
    raise exception 'run % is not in setup %', p_run_id, p_setup
      using errcode = 'PB004', hint = 'brokerage.outcomes lists the runs.';
  end if;
  perform brokerage.require_decided_by(p_setup, p_since, p_until, p_run_id, p_profile,
                                       array(select jsonb_object_keys(p_changes)) || p_without);
  for v_recording in
    select t.* from brokerage.recorded(p_setup, p_since, p_until, p_run_id) t order by t.part
  loop
    if v_parts > 0 and clock_timestamp() - v_begin > v_time then
      raise exception 'the replay took longer than %: it reached %, after % parts',
        v_time, v_recording.decided_at, v_parts
        using errcode = 'PB006',
              hint = 'Replay a shorter time, or allow more: brokerage.set_settings, replay_time.';
    end if;
    select r.algorithm into v_algorithm from brokerage.run r where r.setup = p_setup and r.run_id = v_recording.run_id;
    v_recorded := array(
      select jsonb_populate_record(null::brokerage.profile_rule, e.value)
        from jsonb_array_elements(brokerage.noted_value(p_setup, v_recording.decided_at, v_recording.rules)) e);
    if p_profile is null then
      v_rules := v_recorded;
    elsif brokerage.base_profile(brokerage.profile_name(p_profile)) <> v_recording.subjects ->> 'base_profile' then
      raise exception 'profile % is based on %, run % was decided by %', p_profile,
        brokerage.base_profile(brokerage.profile_name(p_profile)), v_recording.run_id,
        v_recording.subjects ->> 'base_profile'
        using errcode = 'PB001', hint = 'Facts differ by base profile: name a profile with the same base profile.';
    else
      v_rules := brokerage.rules_of(p_profile, v_algorithm);
    end if;
    v_rules := brokerage.changed_rules(v_rules, p_changes, p_without);
    return query
    select v_recording.run_id, a.task_id, v_algorithm, array_remove(array[
             case when (a.status, a.rule, a.reason, a.retry_at)
                       is distinct from (d.status, d.rule, d.reason, d.retry_at) then 'status' end,
             case when n.candidates is distinct from b.candidates then 'candidates' end,
             case when n.verdicts is distinct from b.verdicts then 'verdicts' end,
             case when n.lost is distinct from b.lost then 'reasons' end,
             case when j.after is distinct from j.before then 'jobs' end], null),
           d.status, a.status,
           array(select unnest(n.candidates) except select unnest(b.candidates) order by 1),
           array(select unnest(b.candidates) except select unnest(n.candidates) order by 1), j.before, j.after
      from brokerage.judge_again(v_recording, v_rules, brokerage.profile_name(p_profile)) a
      left join brokerage.task_decision d on d.setup = p_setup and d.run_id = v_recording.run_id
                                        and d.task_id = a.task_id
      left join brokerage.verdict v on v.setup = p_setup and v.run_id = v_recording.run_id and v.task_id = a.task_id
     cross join lateral brokerage.comparable(a.queues, a.lost, a.reasons) n
     cross join lateral brokerage.comparable(v.queues, v.lost, v.reasons) b
     cross join lateral (
       select case when a.nucleus is not null then jsonb_build_object(a.nucleus, 1)
                   else (select jsonb_object_agg(q.queue, a.given[q.rank])
                           from unnest(a.queues) q
                          where q.verdict = 'c' and a.given[q.rank] > 0) end as after,
              case when d.nucleus is not null then jsonb_build_object(d.nucleus, 1)
                   else (select jsonb_object_agg(g.queue, g.jobs)
                           from brokerage.assignment g
                          where g.setup = p_setup and g.run_id = v_recording.run_id
                            and g.task_id = a.task_id) end as before) j
     order by a.task_id;
    v_parts := v_parts + 1;
  end loop;
  if v_parts = 0 then
    raise exception 'no facts are kept of % in setup %', coalesce('run ' || p_run_id, 'runs in that time'), p_setup
      using errcode = 'PB004',
            hint = 'Facts of real runs are kept as long as decisions (settings keep_facts and decisions_kept); '
                   'dry runs have none.';
  end if;
end $$;

comment on function brokerage.replay(text, interval, interval, bigint, text, jsonb, text[]) is
  'Repeats the decisions of the real runs between p_since and p_until ago (or of one run) by the rules of another '
  'profile, by other parameters (an object of objects, by rule) or without some rules; by default, by the rules that '
  'decided. Returns one row per task: the differences from the decision (status, candidates, verdicts, reasons, jobs; '
  'empty if there are none), its status, candidates gained and lost, and the jobs by queue (for a production task 1 at '
  'its nucleus). Assignments of the same part count as replayed, all later facts as recorded. The call stores nothing. '
  'Errors: PB001 (no such profile, another base profile, a rule that did not decide, a parameter that no rule reads, '
  'facts of another release), PB002, PB004 (no such run, no facts), PB006 (the replay takes longer than the setting '
  'replay_time).';
