-- Facts of tasks and queues for analysis: brokerage.facts_of_pairs, the input as anal-locality sees it, the outcome
-- of the task's jobs there, and the jobs of its user and of all users there (analysis-candidates.md, anal-locality;
-- analysis-load.md, failed-jobs; analysis-load.md, stabilizer).
create or replace function brokerage.facts_of_analysis_pairs(
  p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean,
                 is_nucleus_queue boolean, is_near boolean, is_own boolean, closeness float8, queued float8,
                 queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
                 defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint,
                 type_assigned bigint, type_defined bigint, available_files bigint, available_bytes bigint,
                 reachable_files bigint, reachable_bytes bigint, input_is_local boolean, has_readable_source boolean,
                 zero_share text, software text, platform_level_percent float8, input_problem text, input_copies float8,
                 failed bigint, closed bigint, finished bigint, user_queued bigint, user_running bigint, users bigint,
                 users_running bigint, to_running_rate float8)
language sql stable as $$
  with task as materialized (
    select k.ordinality as number, k.*, t.included_sites || t.sites as sites
      from unnest((p_subjects).analysis_keys) with ordinality k
      join unnest(p_tasks) with ordinality t on t.ordinality = k.ordinality
  ), standing as materialized (  -- what users have at queues, once for all tasks of a user and share
    select distinct on (o.user_number * cardinality(p_queues) + q.ordinality)  -- each is one already: a join knows it
           o.user_number * cardinality(p_queues) + q.ordinality as place, q.queue, q.unified_name, q.running_all,
           u.queued, u.running, coalesce(u.users, 1) as users, u.users_running, u.of_share, u.of_all
      from (select distinct t.user_number from task t) o
     cross join unnest(p_queues) with ordinality q
      left join unnest((p_subjects).users) u on u.place = o.user_number * cardinality(p_queues) + q.ordinality
  )
  select f.task_number, f.queue_number,
         case when (p_subjects).base_profile = 'documented'
              then coalesce(s.queue like any (t.sites) or s.unified_name like any (t.sites), false)
              else f.is_preassigned end,
         f.preassigned_alone, f.is_nucleus_queue, f.is_near, f.is_own, f.closeness, f.queued, f.queued_express, f.mbps,
         f.running, f.starting, f.activated, f.assigned, f.defined, f.numslots, f.type_running, f.type_starting,
         f.type_activated, f.type_assigned, f.type_defined, f.available_files, f.available_bytes, f.reachable_files,
         f.reachable_bytes, f.input_is_local, f.has_readable_source, f.zero_share, f.software,
         f.platform_level_percent, case when w.is_placed then w.problem else t.nothing_there end,
         case when not t.has_input then 1
              when w.is_placed then w.copies
              when (p_subjects).base_profile = 'documented' or t.input_level > 2 then 0 end,
         coalesce(w.failed, 0), coalesce(w.closed, 0), coalesce(w.finished, 0),
         s.queued, s.running, s.users, coalesce(s.users_running, f.running),
         coalesce(s.of_share, s.of_all * f.running / nullif(s.running_all, 0), 0)
    from brokerage.facts_of_pairs(p_subjects, p_tasks, p_queues) f
    join task t on t.number = f.task_number
    join standing s on s.place = t.user_number * cardinality(p_queues) + f.queue_number
    left join unnest((p_subjects).locality) w on w.pair = t.number * cardinality(p_queues) + f.queue_number
$$;

comment on function brokerage.facts_of_analysis_pairs(
  brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'What tasks and queues have with each other, as rules of analysis_job see it: one row for each task and queue, '
  'by their places in the two arrays.';
