-- ARCHITECTURE.md, Hot rows. A count goes when a newer one has replaced it; a change goes when every count that may
-- still appear includes it. A transaction that is counting now may not have seen the end of another that has finished
-- since then, because that one was running when it began. So a change goes if its transaction had finished when
-- maintenance last looked, and if every transaction that had started by then has finished, too.
create or replace function taskqueue.clean_counts(p_setup text) returns bigint
language plpgsql as $$
declare
  v_horizon taskqueue.job_count_horizon;
  v_gone bigint;
  v_count bigint := 0;
begin
  delete from taskqueue.job_count d where d.ctid = any (array(
    select c.ctid from taskqueue.job_count c
     where c.setup = p_setup
       and (exists (select from taskqueue.job_count n
                     where n.setup = c.setup and n.task_queue_id = c.task_queue_id
                       and (n.known_to, n.count_id) > (c.known_to, c.count_id))
            or not exists (select from taskqueue.task_queue q
                            where q.setup = c.setup and q.task_queue_id = c.task_queue_id)
               and c.known_to < pg_snapshot_xmin(pg_current_snapshot()))
       for update skip locked));
  get diagnostics v_gone = row_count;
  v_count := v_count + v_gone;
  select h.* into v_horizon from taskqueue.job_count_horizon h where h.setup = p_setup;
  if v_horizon.started <= pg_snapshot_xmin(pg_current_snapshot()) then
    delete from taskqueue.job_count_change d where d.ctid = any (array(
      select c.ctid from taskqueue.job_count_change c
       where c.setup = p_setup and c.made_in < v_horizon.finished
         and (exists (select from taskqueue.job_count n
                       where n.setup = c.setup and n.task_queue_id = c.task_queue_id and n.known_to > c.made_in
                         and c.made_in <> all (n.in_flight))
              or not exists (select from taskqueue.task_queue q
                              where q.setup = c.setup and q.task_queue_id = c.task_queue_id))
         for update skip locked));
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
  elsif v_horizon.started is not null then
    return v_count;
  end if;
  insert into taskqueue.job_count_horizon (setup, finished, started)
  values (p_setup, pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot()))
  on conflict (setup) do update set finished = excluded.finished, started = excluded.started;
  return v_count;
end $$;

comment on function taskqueue.clean_counts(text) is
  'Removes counts and changes that no reader needs any more; returns how many.';
