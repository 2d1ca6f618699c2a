-- Section 5, step 4: of the jobs with that user priority the first ten by id, one of them at random. A job that another transaction has
-- locked is passed over, as if it were not there. First the one that the draw points at, in one statement; where it is locked or the count was
-- wrong, the others are looked at.
create or replace function taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_user_priority smallint, p_jobs bigint, p_seed bigint) returns taskqueue.job
language plpgsql
as $$
declare
  v_job taskqueue.job;
  v_ids bigint[];
  v_id bigint;
  v_after bigint := 0;
begin
  delete from taskqueue.job j
   where j.setup = p_setup
     and j.job_id = (select l.job_id from taskqueue.job l
                      where l.setup = p_setup and l.task_queue_id = p_task_queue_id and l.user_priority = p_user_priority and not l.held
                        and l.job_id = (select i.job_id from taskqueue.job i
                                         where i.setup = p_setup and i.task_queue_id = p_task_queue_id and not i.held and i.user_priority = p_user_priority
                                         order by i.job_id
                                        offset floor(taskqueue.draw(p_user_priority, p_seed) * least(p_jobs, 10)) limit 1)
                        for update skip locked)
  returning j.* into v_job;
  if found then
    return v_job;
  end if;
  loop
    v_ids := array(select j.job_id from taskqueue.job j
                    where j.setup = p_setup and j.task_queue_id = p_task_queue_id and j.user_priority = p_user_priority and not j.held
                      and j.job_id > v_after
                    order by j.job_id limit 10);
    for v_id in select i from unnest(v_ids) i order by taskqueue.draw(i, p_seed) loop
      delete from taskqueue.job j
       where j.setup = p_setup and j.job_id = (
             select l.job_id from taskqueue.job l
              where l.setup = p_setup and l.job_id = v_id and l.task_queue_id = p_task_queue_id and l.user_priority = p_user_priority and not l.held
                for update skip locked)
      returning j.* into v_job;
      if found then
        return v_job;
      end if;
    end loop;
    exit when cardinality(v_ids) < 10;
    v_after := v_ids[10];
  end loop;
  return null;
end $$;

comment on function taskqueue.take_job(text, bigint, smallint, bigint, bigint) is
'Takes a job of a queue and user priority out of waiting, where about p_jobs are counted; null when there is none that is not locked.';
