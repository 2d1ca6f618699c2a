-- worlds.md, Loading: each element of task_queues becomes a TaskQueue of its own, whatever its size, so that a dump
-- comes back as it was (insert_jobs would fill siblings up to queue_size instead). Elements are loaded in the order of
-- the digests, so that two loads never deadlock.
create or replace function taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_bad jsonb;
  v_states jsonb;
  v_read record;
  v_ten_first boolean;
  v_task_queue record;
  v_id bigint;
  v_made bigint[] := '{}'::bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  perform taskqueue.require_setup(p_setup);
  -- the priorities are computed in the same transaction as the last call, and jobs may leave other TaskQueues empty
  perform taskqueue.join_line(p_setup);
  select a.task_queues, a.states into p_task_queues, v_states from taskqueue.states_apart(p_task_queues) a;
  select e
    into v_bad
    from jsonb_array_elements(case jsonb_typeof(p_task_queues) when 'array' then p_task_queues else '[]' end) e
   where jsonb_typeof(e -> 'jobs') is distinct from 'array'
      or jsonb_typeof(coalesce(e -> 'enabled', 'true')) <> 'boolean'
      or jsonb_typeof(coalesce(e -> 'held', 'true')) <> 'boolean'
   limit 1;
  if found then
    raise exception 'this element is not a TaskQueue: %', left(v_bad::text, 200)
      using errcode = 'PB001',
            hint = 'An element is {requirements, enabled, held, jobs: [[id, user_priority, payload, state], ...]}; '
                   'enabled and held are true or false.';
  end if;
  v_read := taskqueue.read_batch(p_setup, case when jsonb_typeof(p_task_queues) <> 'array' then p_task_queues
                                               else (select coalesce(jsonb_agg(e - '{enabled,held}'::text[]), '[]')
                                                       from jsonb_array_elements(p_task_queues) e) end, true);
  select s.ten_first into strict v_ten_first from taskqueue.setting s where s.setup = p_setup;
  for v_task_queue in
    select n.requirements, coalesce((p_task_queues -> j.element - 1 ->> 'enabled')::boolean, true) as enabled,
           coalesce((p_task_queues -> j.element - 1 ->> 'held')::boolean, false) as held,
           array_agg(j.job_id order by j.job_id) as ids, array_agg(j.user_priority order by j.job_id) as levels
      from unnest(v_read.elements, v_read.numbers, v_read.job_ids, v_read.user_priorities)
             j (element, number, job_id, user_priority)
      join unnest(v_read.requirements) with ordinality n (requirements, number) using (number)
     group by number, j.element, n.requirements
     order by number, j.element
  loop
    v_id := taskqueue.make_task_queue(p_setup, taskqueue.definition_of(p_setup, v_task_queue.requirements),
                                      (select avg(taskqueue.weight(l, v_ten_first))
                                         from unnest(v_task_queue.levels) l));
    if v_task_queue.held or not v_task_queue.enabled then
      update taskqueue.task_queue q set enabled = v_task_queue.enabled, held = v_task_queue.held, is_open = false
       where q.setup = p_setup and q.task_queue_id = v_id;
    end if;
    v_made := v_made || v_id;
    perform taskqueue.fill_task_queues(p_setup, array_fill(v_id, array[cardinality(v_task_queue.ids)]),
                                       v_task_queue.ids, v_task_queue.levels);
    perform taskqueue.refuse_leased_ids(p_setup, v_task_queue.ids);
  end loop;
  perform taskqueue.submitted_id(to_jsonb(j.job_id))
     from taskqueue.job j
    where j.setup = p_setup and j.job_id = any (v_read.job_ids) and j.job_id >= 1000000000000 and not j.brokered;
  if v_states is not null then
    perform taskqueue.restore_jobs(p_setup, v_states);
  end if;
  perform workload.set_payloads(p_setup, v_read.job_ids, v_read.payloads);
  perform taskqueue.open_task_queues(p_setup, v_made);
  return coalesce(cardinality(v_read.job_ids), 0);
end $$;

comment on function taskqueue.load_task_queues(text, jsonb) is
  'Opens a TaskQueue for each element {requirements, enabled, held, jobs: [[id, user_priority, payload, state], '
  '...]}, up to 100,000 jobs per call, all or none; payload and state may be left out, and a state is {held, '
  'not_before, attempts, losses, failures, avoid, avoid_until} (times in UTC). Jobs that already wait are moved there. '
  'Returns the number of jobs. Operators use it to load dumps and workloads. Errors: PB001, PB002 (setup not granted), '
  'PB005 (leased).';
