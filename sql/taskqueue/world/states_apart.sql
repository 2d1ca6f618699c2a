-- worlds.md, Loading: the fourth entry of a job is its state. A path that is not strict would filter the
-- entries of jobs. Elements without states are returned as they are.
create or replace function taskqueue.states_apart(inout task_queues jsonb, out states jsonb)
language sql immutable as $$
  select case when h.has_state
              then (select jsonb_agg(case when jsonb_typeof(e.value -> 'jobs') = 'array'
                                          then e.value || jsonb_build_object('jobs', (
                                                 select coalesce(jsonb_agg(
                                                          case when j.value @? 'strict $ ? (@.size() == 4)'
                                                               then j.value - 3 else j.value end order by j.n), '[]')
                                                   from jsonb_array_elements(e.value -> 'jobs')
                                                        with ordinality j (value, n)))
                                          else e.value end order by e.n)
                      from jsonb_array_elements(task_queues) with ordinality e (value, n))
              else task_queues end,
         case when h.has_state
              then (select jsonb_agg(case jsonb_typeof(j -> 3)
                                       when 'object' then (j -> 3) || jsonb_build_object('id', j -> 0)
                                       else j -> 3 end)
                      from jsonb_path_query(task_queues, 'strict $[*].jobs[*] ? (@.size() == 4)', silent => true) j
                     where jsonb_typeof(j -> 3) <> 'null') end
    from (select jsonb_typeof(task_queues) = 'array'
                 and coalesce(task_queues @? 'strict $[*].jobs[*] ? (@.size() == 4)', false) as has_state) h
$$;

comment on function taskqueue.states_apart(jsonb) is
  'The elements of taskqueue.load_task_queues without the states of their jobs, and the states with the ids of the '
  'jobs, as taskqueue.restore_jobs takes them; null if there are none.';
