-- DRAWING.md, Jobs of a TaskQueue: a job drawn now, without the hand; that makes the hand void. A job that another
-- transaction has locked is passed over, and the next of the drawn order is tried.
create or replace function taskqueue.draw_job(
  p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint
) returns taskqueue.card
language plpgsql as $$
declare
  v_number int := 1;
  v_drawn record;
  v_job taskqueue.job;
begin
  loop
    select l.total, d.entry_ids, d.addresses into v_drawn
      from (select array_agg(coalesce(n.jobs, 0) order by i.level) as jobs,
                   array_agg(n.first_id order by i.level) as first_ids, sum(n.jobs) as total
              from generate_series(0, 10) i (level)
              left join taskqueue.job_level(p_setup, p_task_queue_id) n on n.user_priority = i.level) l
     cross join lateral taskqueue.drawn_jobs(p_setup, p_task_queue_id, l.jobs, l.first_ids, '{}', v_number,
                                             p_ten_first, p_policy, p_seed) d;
    delete from taskqueue.job j
     where j.setup = p_setup
       and j.ctid = (select l.ctid
                       from unnest(v_drawn.addresses, v_drawn.entry_ids) d (address, entry_id)
                      cross join lateral (
                             select i.ctid from taskqueue.job i
                              where i.setup = p_setup and i.ctid = d.address and i.entry_id = d.entry_id
                                for update skip locked) l
                      limit 1)
    returning j.* into v_job;
    exit when v_job.job_id is not null or cardinality(v_drawn.entry_ids) < v_number;
    v_number := v_number * 16;
  end loop;
  if v_job.job_id is not null then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, entry_id)
    values (p_setup, p_task_queue_id, v_job.user_priority, -1, v_job.entry_id);
  end if;
  if v_drawn.total <= 1 then
    perform taskqueue.drop_task_queue_if_empty(p_setup, p_task_queue_id);
  end if;
  return row(v_job.job_id, v_job.user_priority, v_job.attempts + 1, v_job.brokered, v_job.entry_id, null, null, null,
             null, null, null, null, null, null, null)::taskqueue.card;
end $$;

comment on function taskqueue.draw_job(text, bigint, boolean, text, bigint) is
  'Takes a job of a TaskQueue out of waiting, the first of the drawn order that is not locked; null: there is none.';
