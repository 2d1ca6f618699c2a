-- A part of a run takes tasks on which no other session works, decides them and assigns their jobs, all in one
-- transaction. Tasks are locked first and checked again after that: another broker may have decided them between this
-- call's snapshot and the lock. A dry run does not change a task. It takes no lock, so that no broker skips its tasks,
-- and it may share a snapshot with the run to which it is compared.
create or replace function brokerage.broker_next(
  p_setup text, p_run_id bigint, p_task_ids bigint[] default null, p_limit bigint default null
) returns bigint
language plpgsql
security definer set search_path = brokerage, pg_temp
set jit = off set enable_mergejoin = off set enable_memoize = off set cursor_tuple_fraction = 1 set work_mem = '64MB'
as $$
declare
  -- $1 run, $2 task ids (null means any), $3 whether only due tasks are taken, $4 limit; %s: the lock
  v_query constant text := $q$
    select array(
      select t.task_id
        from workload.task t
       where t.setup = ($1).setup and ($2 is null or t.task_id = any ($2))
         and (not $3
              or exists (select from brokerage.due_task d
                          where d.setup = ($1).setup and d.algorithm = ($1).algorithm and d.task_id = t.task_id))
         and not exists (select from brokerage.task_decision x
                          where x.setup = ($1).setup and x.run_id = ($1).run_id and x.task_id = t.task_id)
       order by t.current_priority desc, t.task_id
       limit $4
       %s)$q$;
  v_run brokerage.run;
  v_rules brokerage.profile_rule[];
  v_locked bigint[];
  v_taken bigint[];
  v_left bigint[];
  v_wave bigint[];
begin
  perform resource.identify(p_setup);
  perform resource.require_limit('limit', p_limit);
  select r.* into v_run from brokerage.run r where r.setup = p_setup and r.run_id = p_run_id and r.ended_at is null;
  if not found then
    raise exception 'run % is not under way in setup %', coalesce(p_run_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'brokerage.broker_jobs opens a run and works in it.';
  end if;
  v_run.started_at := resource.clock(p_setup);
  v_run.trial := (select t.trial from brokerage.trial t
                   where t.setup = p_setup and t.trial = v_run.trial and t.ended_at is null);
  if v_run.dry then
    execute format(v_query, '') into v_taken using v_run, p_task_ids, p_task_ids is null, p_limit;
  else
    perform resource.require_read_committed();
  end if;
  while not v_run.dry loop
    execute format(v_query, 'for no key update of t skip locked') into v_locked
      using v_run, p_task_ids, p_task_ids is null, p_limit;
    execute format(v_query, '') into v_taken using v_run, v_locked, p_task_ids is null, null::bigint;
    exit when cardinality(v_taken) > 0 or cardinality(v_locked) = 0;
  end loop;
  if cardinality(v_taken) = 0 then
    return 0;
  end if;
  v_rules := brokerage.rules_of_run(v_run);
  v_left := v_taken;
  loop
    v_wave := brokerage.wave_of(p_setup, v_run.algorithm, v_left);
    perform brokerage.decide(v_run, v_rules, v_wave, brokerage.facts_of_candidates(p_setup, v_run.algorithm));
    v_left := array(select u.task_id
                      from unnest(v_left) with ordinality u(task_id, number)
                     where u.task_id <> all (v_wave)
                     order by u.number);
    exit when cardinality(v_left) = 0;
  end loop;
  if not v_run.dry then
    perform brokerage.assign_jobs(v_run, v_rules, v_taken);
  end if;
  update brokerage.run r set tasks = r.tasks + cardinality(v_taken) where r.setup = p_setup and r.run_id = p_run_id;
  return cardinality(v_taken);
end $$;

comment on function brokerage.broker_next(text, bigint, bigint[], bigint) is
  'Decides up to p_limit tasks of a run that are due or listed, and assigns their jobs; returns the number of tasks. '
  'Works within the caller''s transaction. Errors: PB001 (isolation level, unless dry), PB002 (setup not granted), '
  'PB004 (no such run).';
