-- DRAWING.md, Jobs of a TaskQueue, where the job that was drawn first is locked or was just taken: the user
-- priorities in drawn order, of each the first ten jobs by id in drawn order, then the next ten. A job that another
-- transaction has locked is passed over.
create or replace function taskqueue.take_job(
  p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint
) returns taskqueue.job
language plpgsql as $$
declare
  v_job taskqueue.job;
  v_level record;
  v_ids bigint[];
  v_id bigint;
  v_after bigint;
begin
  for v_level in
    select u.user_priority, u.first_id
      from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u
  loop
    v_after := coalesce(v_level.first_id, 1) - 1;
    loop
      v_ids := array(select j.job_id from taskqueue.job j
                      where j.setup = p_setup and j.task_queue_id = p_task_queue_id
                        and j.user_priority = v_level.user_priority and not j.held
                        and j.job_id > v_after
                      order by j.job_id limit 10);
      for v_id in select i from unnest(v_ids) i order by resource.draw(i, p_seed # 1) loop
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (
               select l.ctid from taskqueue.job l
                where l.setup = p_setup and l.job_id = v_id and l.task_queue_id = p_task_queue_id
                  and l.user_priority = v_level.user_priority and not l.held
                  for update skip locked)
        returning j.* into v_job;
        if found then
          return v_job;
        end if;
      end loop;
      exit when cardinality(v_ids) < 10;
      v_after := v_ids[10];
    end loop;
  end loop;
  return null;
end $$;

comment on function taskqueue.take_job(text, bigint, boolean, text, bigint) is
  'Takes a job of a TaskQueue out of waiting; null: every job is locked, or there is none.';
