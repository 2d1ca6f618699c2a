-- Long because it is a list of steps. A step that may take long has a part of the time that is left: other setups wait.
-- What a step leaves is still due in the next call, and the other steps have their parts in each call.
create or replace function taskqueue.maintain_setup(
  p_setting taskqueue.setting, p_often boolean, p_end timestamptz
) returns table (step text, changed bigint)
language plpgsql as $$
declare
  v_setup text := p_setting.setup;
  v_ids bigint[];
  v_groups text[];
  v_now timestamptz := resource.clock(p_setting.setup);
  v_until timestamptz;
  v_corrected boolean := false;
  -- Some steps lock lists without waiting, and the shares wait in the line (taskqueue.join_line). The place in
  -- the line comes first: an operator who has it could wait for a list that this call has locked.
  v_is_in_line boolean := pg_try_advisory_xact_lock(hashtextextended(p_setting.setup, 7));
  c_most constant int := 10000;  -- definitions, jobs and changes
begin
  -- this step comes before any change of rows of TaskQueues, for the reason given in taskqueue.task_queues_with_space
  if not p_often then
    step := 'empty TaskQueues';
    changed := taskqueue.delete_empty_queues(v_setup, taskqueue.part_until(p_end, 4));
    return next;
  end if;
  step := 'due retries';
  changed := taskqueue.change_due(v_setup, v_now, c_most, taskqueue.part_until(p_end, 4))
             + taskqueue.resume_due(v_setup, v_now, c_most);
  return next;
  step := 'clauses';
  changed := taskqueue.maintain_clauses(v_setup, taskqueue.part_until(p_end, 4));
  return next;
  step := 'lists';
  changed := 0;
  v_until := taskqueue.part_until(p_end, 4);
  while taskqueue.post_pending(v_setup, 1000) loop
    changed := changed + 1;
    exit when clock_timestamp() > v_until;
  end loop;
  if not p_often then
    changed := changed + taskqueue.close_gaps(v_setup, v_until);
  end if;
  return next;
  step := 'shares';
  changed := 0;
  v_until := taskqueue.part_until(p_end, 2);
  for v_groups in select g from taskqueue.groups_to_recompute(p_setting, v_now) g where v_is_in_line loop
    if not v_corrected then
      perform taskqueue.correct_shares(v_setup, false);
      v_corrected := true;
    end if;
    changed := changed + taskqueue.recompute_groups(v_setup, v_groups, 5000);
    exit when clock_timestamp() > v_until;
  end loop;
  return next;
  step := 'hands';
  changed := 0;
  for v_ids in select p from taskqueue.changed_portions(v_setup) p loop
    changed := changed + taskqueue.deal_changed(p_setting, v_ids) + taskqueue.clean_hands(v_setup, v_ids);
    -- mean weights change as jobs come and go: priorities follow once a weight has changed by a tenth
    insert into taskqueue.share_mark (setup, owner_group, marked_at)
    select distinct v_setup, q.owner_group, v_now
      from taskqueue.task_queue q
     cross join lateral taskqueue.weight_of_task_queue(q, p_setting.ten_first) w
     where q.setup = v_setup and q.task_queue_id = any (v_ids)
       and abs(w.weight - q.mean_weight) > 0.1 * q.mean_weight;
    exit when clock_timestamp() > p_end;
  end loop;
  changed := changed + taskqueue.forget_hands(v_setup);
  return next;
  step := 'resources seen';
  changed := taskqueue.roll_up_resources(v_setup);
  return next;
  if p_often then
    return;
  end if;
  step := 'definitions';
  changed := taskqueue.retire_unused(v_setup, v_now, c_most);
  return next;
  step := 'past definitions';
  changed := taskqueue.forget_past_definitions(v_setup, v_now, c_most);
  return next;
  step := 'void changes';
  changed := taskqueue.forget_void_changes(v_setup, c_most);
  return next;
  step := 'requests';
  changed := taskqueue.forget_requests(v_setup, v_now, p_end);
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

comment on function taskqueue.maintain_setup(taskqueue.setting, boolean, timestamptz) is
  'Background work of one setup, until p_end by the clock of the server and the end of a portion; see '
  'taskqueue.maintain.';
