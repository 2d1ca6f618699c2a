-- RETRIES.md, Changes: a job stays in a TaskQueue that an operator holds or has disabled. If a group of jobs would wait
-- for another transaction, the group is left to the next call. Groups after the fiftieth are left too, since PostgreSQL
-- keeps only 64 subtransactions of a transaction in shared memory. 10,000 jobs of a group take 2 to 4 s, and an
-- insertion of jobs with the new requirements waits for this transaction, so a group changes 1,000 jobs at a time.
create or replace function taskqueue.change_due(p_setup text, p_now timestamptz, p_most int, p_end timestamptz)
returns bigint
language plpgsql set lock_timeout = '300ms' as $$
declare
  v_group record;
  v_changed bigint := 0;
begin
  for v_group in
    with due as materialized (
      select d.definition_id, p.memory_factor, p.time_factor, p.site,
             case when d.min_ram > 0 then null else p.ram_used end as ram_used, j.job_id
        from taskqueue.job j
        join taskqueue.pending_change p on p.setup = j.setup and p.job_id = j.job_id and p.entry_id = j.entry_id
        join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
        join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
       where j.setup = p_setup and j.not_before <= p_now and q.enabled and not q.held
       order by j.not_before limit p_most
    ), kind as materialized (  -- new requirements are computed once for all jobs that change alike
      select u.definition_id, row(p_setup, null, null, null, u.memory_factor, u.time_factor, u.site,
                                  u.ram_used)::taskqueue.pending_change as change, array_agg(u.job_id) as job_ids
        from due u group by u.definition_id, u.memory_factor, u.time_factor, u.site, u.ram_used
    )
    select r.requirements, (array_agg(i.job_id order by i.job_id))[: 1000] as job_ids
      from kind k
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = k.definition_id
     cross join lateral (select taskqueue.requirements_after(d.requirements, k.change) as requirements) r
     cross join lateral unnest(k.job_ids) i (job_id)
     group by r.requirements
     order by count(*) desc, md5(r.requirements::text) limit 50
  loop
    begin
      v_changed := v_changed + taskqueue.change_jobs(p_setup, p_now, v_group.requirements, v_group.job_ids);
    exception when deadlock_detected or lock_not_available then
      null;
    end;
    exit when clock_timestamp() > p_end;
  end loop;
  return v_changed;
end $$;

comment on function taskqueue.change_due(text, timestamptz, int, timestamptz) is
  'Carries out the pending changes (taskqueue.pending_change) of up to p_most jobs that are due, and of at most 1,000 '
  'with the same new requirements, until p_end by the clock of the server, and resumes these jobs; returns how many. '
  'Locked jobs are skipped.';
