-- ARCHITECTURE.md, Hot rows: a new base for the counts of a TaskQueue, by one match in sixteen (some nine changes are
-- then read at a time) and by taskqueue.maintain. What this transaction itself changed stays a change, since it may
-- change more afterwards. Two transactions that count at the same time write two counts, and both are right; nobody
-- waits, and no row is updated.
create or replace function taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) returns bigint
language sql as $$
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, p_task_queue_id, s.known_to,
         array(select x from pg_snapshot_xip(s.snapshot) x union all select s.own where s.own < s.known_to),
         n.jobs, n.first_ids
    from (select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as known_to,
                 pg_current_xact_id() as own) s
   cross join lateral (
          select array_agg(coalesce(l.jobs, 0) order by i.level) as jobs,
                 array_agg(f.job_id order by i.level) as first_ids, sum(l.changes) as changes
            from generate_series(0, 10) i (level)
            left join taskqueue.job_level(p_setup, p_task_queue_id, s.own) l on l.user_priority = i.level
            left join lateral (select j.job_id from taskqueue.job j
                                where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held
                                  and j.user_priority = l.user_priority
                                  and j.job_id >= coalesce(l.first_id, 0)
                                order by j.job_id limit 1) f on true) n
   where n.changes > 0
  returning 1::bigint
$$;

comment on function taskqueue.fold_counts(text, bigint) is
  'Counts the changes of a TaskQueue into a new base; null: there were none. A reader gets the same numbers before and '
  'after.';
