-- Long because it is a list of steps.
create or replace function taskqueue.maintain_setup(p_setting taskqueue.setting, p_often boolean)
returns table (step text, changed bigint)
language plpgsql as $$
declare
  v_setup text := p_setting.setup;
  v_task_queue_ids bigint[];
  v_now timestamptz := resource.clock(p_setting.setup);
  v_begun timestamptz := clock_timestamp();
  v_group text;
  c_portion constant int := 200;
  c_definitions constant int := 10000;  -- and jobs and changes
begin
  -- this step comes before any change of rows of TaskQueues, for the reason given in taskqueue.task_queues_with_space
  if not p_often then
    step := 'empty TaskQueues';
    changed := taskqueue.delete_empty_queues(v_setup);
    return next;
  end if;
  step := 'due retries';
  changed := taskqueue.change_due(v_setup, v_now, c_definitions)
             + taskqueue.resume_due(v_setup, v_now, c_definitions);
  return next;
  step := 'shares';
  changed := 0;
  for v_group in
    select m.owner_group from taskqueue.share_mark m where m.setup = v_setup
     group by m.owner_group having min(m.marked_at) <= v_now - p_setting.share_delay / 2
     order by min(m.marked_at)
  loop
    changed := changed + taskqueue.recompute_shares(v_setup, v_group, 2000);
    exit when clock_timestamp() > v_begun + interval '1 second';  -- other setups wait; the next call goes on
  end loop;
  return next;
  step := 'hands';
  v_task_queue_ids := array(select i.task_queue_id from taskqueue.job_count_change i where i.setup = v_setup
                             group by i.task_queue_id order by count(*) desc);
  changed := 0;
  for v_first in 1 .. cardinality(v_task_queue_ids) by c_portion loop
    changed := changed
               + taskqueue.deal_changed(p_setting, v_task_queue_ids[v_first : v_first + c_portion - 1]);
    if clock_timestamp() > v_begun + interval '1.5 seconds' then  -- the rest is left to the next call
      v_task_queue_ids := v_task_queue_ids[: v_first + c_portion - 1];
      exit;
    end if;
  end loop;
  changed := changed + taskqueue.clean_hands(v_setup);
  -- mean weights change as jobs come and go: priorities follow once a weight has changed by a tenth
  insert into taskqueue.share_mark (setup, owner_group, marked_at)
  select distinct v_setup, q.owner_group, v_now
    from taskqueue.task_queue q
   cross join lateral taskqueue.weight_of_task_queue(q, p_setting.ten_first) w
   where q.setup = v_setup and q.task_queue_id = any (v_task_queue_ids)
     and abs(w.weight - q.mean_weight) > 0.1 * q.mean_weight;
  return next;
  step := 'clauses';
  changed := taskqueue.maintain_clauses(v_setup, clock_timestamp() + interval '0.5 seconds');
  return next;
  step := 'lists';
  changed := taskqueue.post_pending(v_setup, 100000)::int;
  if not p_often then
    changed := changed + taskqueue.close_gaps(v_setup);
  end if;
  return next;
  step := 'resources seen';
  changed := taskqueue.roll_up_resources(v_setup);
  return next;
  if p_often then
    return;
  end if;
  step := 'definitions';
  changed := taskqueue.retire_unused(v_setup, v_now, c_definitions);
  return next;
  step := 'past definitions';
  changed := taskqueue.forget_past_definitions(v_setup, v_now, c_definitions);
  return next;
  step := 'void changes';
  changed := taskqueue.forget_void_changes(v_setup, c_definitions);
  return next;
  step := 'requests';
  delete from taskqueue.request r where r.ctid = any (array(
    select i.ctid from taskqueue.request i
     where i.setup = v_setup and i.made_at < v_now - interval '10 minutes'
       for update skip locked));
  get diagnostics changed = row_count;
  return next;
  -- a token bucket is full again after at most burst delays, unless the clock was set back in between
  step := 'delays';
  update taskqueue.site_limit l set next_at = v_now + l.burst * l.delay
   where l.ctid = any (array(
     select i.ctid from taskqueue.site_limit i
      where i.setup = v_setup and i.kind = 'delay' and i.next_at > v_now + i.burst * i.delay + interval '1 minute'
        for no key update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'known offers';
  changed := taskqueue.forget_unused_descriptions(v_setup, v_now, 100000)
             + taskqueue.forget_known_conditions(v_setup, v_now);
  return next;
end $$;

comment on function taskqueue.maintain_setup(taskqueue.setting, boolean) is
  'Background work of one setup; see taskqueue.maintain.';
