-- STATES.md, From task to TaskQueue. A defined job that has a queue becomes assigned. A job whose input is at its queue
-- is activated, and waits in a TaskQueue from the same commit on. Jobs that another transaction is moving are skipped,
-- and so is a job whose id a submitter's job has, since one such job would stop the others.
create or replace function lifecycle.activate(p_setup text, p_limit int default 10000)
returns table (status text, jobs bigint)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_ids bigint[];
  v_defined bigint[];
  v_group record;
  v_made bigint[];
  v_all_made bigint[] := '{}'::bigint[];
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform resource.require_limit('limit', p_limit);
  perform taskqueue.enter_setup(p_setup);
  v_ids := array(select j.job_id from workload.job j
                  where j.setup = p_setup
                    and j.job_id = any (array(select r.job_id from lifecycle.ready_jobs(p_setup, p_limit) r))
                    and j.status in ('defined', 'assigned')
                    and not exists (select from taskqueue.job t where t.setup = p_setup and t.job_id = j.job_id)
                    and not exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = j.job_id)
                  order by j.job_id for update skip locked);
  v_defined := array(select j.job_id from workload.job j
                      where j.setup = p_setup
                        and j.job_id = any (array(select d.job_id from lifecycle.defined_jobs(p_setup, p_limit) d))
                        and j.activated is null and j.ended is null and j.status = 'defined' and j.queue is not null
                      order by j.job_id for update skip locked);
  v_defined := array(select i from unnest(v_defined) i
                      union select j.job_id from workload.job j
                             where j.setup = p_setup and j.job_id = any (v_ids) and j.status = 'defined');
  if v_defined <> '{}' then
    v_defined := workload.change_status(p_setup, v_defined, 'defined', 'assigned', 'activate');
  end if;
  if v_ids <> '{}' then
    perform taskqueue.require_setup(p_setup);
    v_ids := workload.change_status(p_setup, v_ids, 'assigned', 'activated', 'activate');
    for v_group in
      with ready as materialized (
        select i.job_id, i.priority, i.task_id, i.queue, i.cores, coalesce(f.memory_factor, 1) as memory_factor,
               coalesce(f.time_factor, 1) as time_factor
          from workload.job i
          left join workload.failed_part f on f.setup = p_setup and f.task_id = i.task_id and f.number = i.number
         where i.setup = p_setup and i.job_id = any (v_ids)
      ), part as materialized (
        -- runs once for each group of equal jobs; a nested loop would run it for each pair of jobs
        select i.task_id, i.queue, i.cores, i.memory_factor, i.time_factor from ready i
         group by i.task_id, i.queue, i.cores, i.memory_factor, i.time_factor
      ), required as materialized (
        select i.*, lifecycle.requirements_of(t, d, i.queue, i.cores, i.memory_factor, i.time_factor) as requirements
          from part i
          left join workload.task t on t.setup = p_setup and t.task_id = i.task_id
          left join workload.input_digest d on d.setup = p_setup and d.task_id = i.task_id
      )
      select taskqueue.canonical_requirements(p_setup, r.requirements) as requirements,
             array_agg(j.job_id order by j.job_id) as ids,
             array_agg(least(greatest(j.priority / 100, 1), 10) order by j.job_id) as priorities
        from ready j
        join required r on r.task_id is not distinct from j.task_id and r.queue = j.queue
                       and r.cores is not distinct from j.cores and r.memory_factor = j.memory_factor
                       and r.time_factor = j.time_factor
       group by r.requirements
       order by md5(r.requirements::text)
    loop
      select p.made
        into v_made
        from taskqueue.place_jobs(p_setup, v_group.requirements, v_group.ids, v_group.priorities) p;
      v_all_made := v_all_made || v_made;
    end loop;
    perform taskqueue.open_task_queues(p_setup, v_all_made);
  end if;
  status := 'assigned';
  jobs := cardinality(v_defined);
  return next;
  status := 'activated';
  jobs := cardinality(v_ids);
  return next;
end $$;

comment on function lifecycle.activate(text, int) is
  'Assigns the defined jobs that have a queue, and activates up to p_limit jobs whose input is at their queue, which '
  'then wait in a TaskQueue. Returns how many jobs changed. Errors: PB001 (no such setup), PB002 (setup not granted).';
