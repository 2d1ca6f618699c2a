-- TIMEOUTS.md, Fast rebrokerage. Counts and jobs are read in one statement, and a locked job is not replaced by
-- another, so two simultaneous calls move the same jobs as a single call.
create or replace function lifecycle.fast_rebroker(
  p_setup text, p_dry_run boolean default false, p_limit int default null
) returns table (queue text, gshare text, queued bigint, running bigint, excess bigint, jobs bigint)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_most int := coalesce(p_limit, (select s.most from lifecycle.setting_in_force s where s.setup = p_setup));
  v_taken jsonb;
  v_ids bigint[];
  v_some bigint[];
  v_moved bigint[] := '{}'::bigint[];
  v_job record;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  if v_most < 1 then
    raise exception 'limit is %', v_most
      using errcode = 'PB001', hint = 'Give how many jobs are touched at most, at least 1.';
  end if;
  with excess as materialized (
    select e.* from lifecycle.fast_excess(p_setup) e where e.why_not is null and e.excess > 0
  ), candidate as (
    select e.queue, e.gshare, i.job_id, i.task_id
      from excess e
     cross join lateral (select j.job_id, j.task_id from workload.job j
                          where j.setup = p_setup and j.ended is null and j.queue = e.queue and j.gshare = e.gshare
                            and j.status in ('defined', 'assigned', 'activated', 'starting')
                          order by j.job_id limit e.excess) i
     order by i.job_id limit v_most
  ), taken as (
    select e.queue, e.gshare, e.queued, e.running, e.excess,
           array_agg(c.job_id) filter (where c.job_id is not null) as ids
      from excess e left join candidate c on c.queue = e.queue and c.gshare = e.gshare
     group by e.queue, e.gshare, e.queued, e.running, e.excess
  )
  select coalesce((select jsonb_agg(t) from taken t), '[]'),
         array(select c.job_id from candidate c order by c.task_id nulls first, c.job_id)
    into v_taken, v_ids;
  if p_dry_run then
    v_moved := v_ids;
  else
    perform taskqueue.enter_setup(p_setup);
    for i in 1 .. cardinality(v_ids) by 500 loop
      v_some := lifecycle.lock_jobs(p_setup, v_ids[i : i + 499]);
      for v_job in
        select j.job_id,
               format('fast-rebroker: %s jobs of %s are queued at %s, %s run, %s too many', t.queued, t.gshare, t.queue,
                      t.running, t.excess) as why
          from workload.job j
          join jsonb_to_recordset(v_taken) t (queue text, gshare text, queued bigint, running bigint, excess bigint)
            on t.queue = j.queue and t.gshare = j.gshare
         where j.setup = p_setup and j.job_id = any (v_some)
           and j.status in ('defined', 'assigned', 'activated', 'starting')
         order by j.task_id nulls first, j.job_id
      loop
        perform lifecycle.return_to_task(p_setup, v_job.job_id, v_job.why);
        v_moved := v_moved || v_job.job_id;
      end loop;
    end loop;
  end if;
  return query
    select t.queue, t.gshare, t.queued, t.running, t.excess,
           (select count(*) from unnest(t.ids) i where i = any (v_moved))
      from jsonb_to_recordset(v_taken) t (queue text, gshare text, queued bigint, running bigint,
                                          excess bigint, ids bigint[])
     order by t.queue, t.gshare;
end $$;

comment on function lifecycle.fast_rebroker(text, boolean, int) is
  'Gives surplus jobs at a queue back to their tasks, by queue and share, lowest job id first, up to p_limit in all '
  '(null means the setting); p_dry_run only counts them. Returns queue and share, the counts, the surplus, and the '
  'number of jobs given back (or cancelled, where an agent was asked to stop). Two simultaneous calls are safe. '
  'Errors: PB001 (limit), PB002 (setup not granted).';
