-- Section 5, step 4: of the jobs with that user priority the first ten by id, one of them at random. A job that another transaction has
-- locked is passed over, as if it were not there.
create or replace function taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_user_priority smallint, p_seed bigint) returns taskqueue.job
language plpgsql
as $$
declare
  v_job taskqueue.job;
  v_ids bigint[];
  v_id bigint;
  v_after bigint := 0;
begin
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

comment on function taskqueue.take_job(text, bigint, smallint, bigint) is
'Takes a job of a queue and user priority out of waiting; null when there is none that is not locked.';
