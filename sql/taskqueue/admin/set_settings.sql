create or replace function taskqueue.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_kept boolean;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_descriptions(p_setup);
  v_kept := (select s.keep_gpus from taskqueue.setting s where s.setup = p_setup);
  perform resource.change_settings('taskqueue.setting', p_setup, p_settings);
  if v_kept <> (select s.keep_gpus from taskqueue.setting s where s.setup = p_setup) then
    perform taskqueue.rewrite_gpus(p_setup);
  end if;
  perform taskqueue.recompute_shares(p_setup);
end $$;

comment on function taskqueue.set_settings(text, jsonb) is
  'Changes settings of matching, all or none, and recomputes the shares. The settings are the columns of '
  'taskqueue.setting. A time is a text such as "30 minutes", or a number of seconds. '
  'Errors: PB001 (key or value), PB002 (setup not granted), PB006 (busy).';
