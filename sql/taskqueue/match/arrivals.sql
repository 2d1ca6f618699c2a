-- DRAWING.md, Agents that wait: a caller that keeps the snapshot of its last call learns of each job once. If a new
-- hand has counted changes in between, they are gone from the table; some agent is then already matching there.
create or replace function taskqueue.arrivals(p_setup text, p_since pg_snapshot default null)
returns table (snapshot pg_snapshot, definition_id bigint, cpu_time bigint, jobs bigint)
language plpgsql security definer set search_path = taskqueue, pg_temp set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform resource.require_read_committed();
  return query
    select s.snapshot, a.definition_id, a.cpu_time, a.jobs
      from (select pg_current_snapshot() as snapshot) s
      left join (select d.definition_id, d.cpu_time, sum(c.change)::bigint as jobs
                   from taskqueue.job_count_change c
                   join taskqueue.task_queue q on q.setup = c.setup and q.task_queue_id = c.task_queue_id
                   join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
                  where c.setup = p_setup and c.change > 0 and c.made_in >= pg_snapshot_xmin(p_since)
                    and not pg_visible_in_snapshot(c.made_in, p_since)
                    and q.is_open
                    and (not v_identity.private
                         or (v_identity.owner_group is null or d.owner_group = v_identity.owner_group)
                            and (v_identity.owner_dn is null or d.owner_dn = v_identity.owner_dn))
                  group by d.definition_id, d.cpu_time) a on true;
end $$;

comment on function taskqueue.arrivals(text, pg_snapshot) is
  'The requirements that got waiting jobs since a snapshot, with the number of jobs, the CPU bucket in seconds, and '
  'the snapshot for the next call. One row without a definition means that no jobs arrived. A private caller sees only '
  'its own jobs. Errors: PB001 (isolation level), PB002 (setup not granted).';
