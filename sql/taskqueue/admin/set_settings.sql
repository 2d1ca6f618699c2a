create or replace function taskqueue.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_before taskqueue.setting;
  v_after taskqueue.setting;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_descriptions(p_setup);
  select s.* into v_before from taskqueue.setting s where s.setup = p_setup;
  perform resource.change_settings('taskqueue.setting', p_setup, p_settings);
  select s.* into v_after from taskqueue.setting s where s.setup = p_setup;
  if v_before.keep_gpus <> v_after.keep_gpus then
    perform taskqueue.rewrite_gpus(p_setup);
  end if;
  if (v_before.ten_first, v_before.policy) <> (v_after.ten_first, v_after.policy) then
    -- cards were drawn by the former law; a change of the TaskQueue makes its hand void
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
    select distinct h.setup, h.task_queue_id, 0, 0 from taskqueue.hand h where h.setup = p_setup and h.cards > 0;
  end if;
  perform taskqueue.recompute_shares(p_setup);
end $$;

comment on function taskqueue.set_settings(text, jsonb) is
  'Changes settings of matching, all or none, and recomputes the shares. The settings are the columns of '
  'taskqueue.setting. A time is a text such as "30 minutes", or a number of seconds. '
  'Errors: PB001 (key or value), PB002 (setup not granted), PB006 (busy).';
