-- RETRIES.md. Parts go back in the order of their tasks, as in every call that gives work back to tasks.
create or replace function lifecycle.give_back(p_setup text, p_limit int default null) returns bigint
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_job record;
  v_back bigint := 0;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform resource.require_limit('limit', p_limit);
  perform workload.lower_limits(p_setup);
  for v_job in
    select j.job_id, j.task_id, j.ended
      from workload.job j
     where j.setup = p_setup and j.retry_at <= v_now and j.status = 'failed'
     order by j.task_id, j.job_id
     limit coalesce(p_limit, (select s.most from lifecycle.setting_in_force s where s.setup = p_setup))
       for update skip locked
  loop
    if lifecycle.reopen_part(p_setup, v_job.job_id) then
      perform workload.note_given_back(p_setup, v_job.job_id, format(
        'retry rule %s: its work is back in task %s',
        (select h.retry_rule from taskqueue.history h
          where h.setup = p_setup and h.job_id = v_job.job_id and h.event = 'failed'
            and h.at between v_job.ended - interval '1 minute' and v_job.ended + interval '1 minute'
          order by h.at desc, h.attempt desc limit 1), v_job.task_id));
      v_back := v_back + 1;
    else
      perform workload.set_retry(p_setup, array[v_job.job_id], array[null::timestamptz]);
    end if;
  end loop;
  return v_back;
end $$;

comment on function lifecycle.give_back(text, int) is
  'Lowers the limits of tasks (workload.lower_limits). Then gives the parts of failed jobs back to their tasks if a '
  'retry rule decided so and the time is due, up to p_limit parts (null means the setting most); returns how many. '
  'Jobs that another transaction has locked are skipped. Errors: PB001 (no such setup), PB002 (setup not granted).';
