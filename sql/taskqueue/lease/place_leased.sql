-- LEASES.md, Returned jobs: jobs with the same requirements go back together. The rows of the leases are deleted
-- already.
create or replace function taskqueue.place_leased(p_setup text, p_leases taskqueue.lease[]) returns bigint
language plpgsql as $$
declare
  v_group record;
  v_task_queue_id bigint;
  v_made bigint[];
  v_all_made bigint[] := '{}'::bigint[];
begin
  for v_group in
    select d.requirements, array_agg(l.job_id order by l.job_id) as ids,
           array_agg(l.user_priority::int order by l.job_id) as priorities
      from unnest(p_leases) l join taskqueue.definition d on d.setup = p_setup and d.definition_id = l.definition_id
     group by d.requirements
     order by md5(d.requirements::text)
  loop
    select p.task_queue_id, p.made
      into v_task_queue_id, v_made
      from taskqueue.place_jobs(p_setup, v_group.requirements, v_group.ids, v_group.priorities) p;
    v_all_made := v_all_made || v_made;
  end loop;
  perform taskqueue.open_task_queues(p_setup, v_all_made);
  return v_task_queue_id;
end $$;

comment on function taskqueue.place_leased(text, taskqueue.lease[]) is
  'Puts jobs whose leases are deleted into TaskQueues of their requirements; returns the TaskQueue of the last job.';
