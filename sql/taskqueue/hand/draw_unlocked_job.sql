-- DRAWING.md, Jobs of a TaskQueue: this is called if the job that was drawn first is locked, was just taken, or avoids
-- the host. The user priorities come in the order of their keys, so that a user priority whose jobs are all locked does
-- not change the odds among the others. For each of them, the first ten jobs by id are tried in drawn order, then the
-- next ten, without jobs that avoid the host.
create or replace function taskqueue.draw_unlocked_job(
  p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint,
  p_hosts text[] default null, p_now timestamptz default null
) returns taskqueue.job
language plpgsql as $$
declare
  v_job taskqueue.job;
  v_level record;
  v_ids bigint[];
  v_after bigint;
begin
  -- plan: user priorities in order
  for v_level in
    select n.user_priority, n.first_id
      from taskqueue.job_level(p_setup, p_task_queue_id) n
     where n.jobs > 0
     order by case when n.user_priority = 0 then 2 when n.user_priority = 10 and p_ten_first then 0 else 1 end,
              -- the first draw is that of taskqueue.drawn_jobs: the job that was locked is among its first ten
              taskqueue.draw_key(resource.draw(n.user_priority + 1, hashint8extended(0, p_seed)), n.jobs,
                                 greatest(n.user_priority, 1), p_policy)
  loop
    v_after := coalesce(v_level.first_id, 1) - 1;
    loop
      -- plan: the first ten jobs
      v_ids := array(select j.job_id from taskqueue.job j
                      where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held
                        and j.user_priority = v_level.user_priority and j.job_id > v_after
                        and taskqueue.avoids(j.avoid, j.avoid_until, p_hosts, p_now) is not true
                      order by j.job_id limit 10);
      -- plan: the delete of one of them
      delete from taskqueue.job j
       where j.setup = p_setup
         and j.ctid = (select l.ctid
                         from (select i from unnest(v_ids) i order by resource.draw(i, p_seed # 1)) d (job_id)
                        cross join lateral (
                               select i.ctid from taskqueue.job i
                                where i.setup = p_setup and i.job_id = d.job_id
                                  and i.task_queue_id = p_task_queue_id and i.user_priority = v_level.user_priority
                                  and not i.held
                                  and taskqueue.avoids(i.avoid, i.avoid_until, p_hosts, p_now) is not true
                                  for update skip locked) l
                        limit 1)
      returning j.* into v_job;
      if found then
        return v_job;
      end if;
      exit when cardinality(v_ids) < 10;
      v_after := v_ids[10];
    end loop;
  end loop;
  return null;
end $$;

comment on function taskqueue.draw_unlocked_job(text, bigint, boolean, text, bigint, text[], timestamptz) is
  'Takes a job of a TaskQueue out of waiting and skips jobs that are locked or avoid one of p_hosts at p_now; counts '
  'are not changed. Null if there is no other job.';
