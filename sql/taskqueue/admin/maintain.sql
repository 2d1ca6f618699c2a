-- What goes on in the background: called every few seconds by `broker maintain`, pg_cron or whoever. Safe to run
-- twice at once; each step passes over what somebody else has locked.
create or replace function taskqueue.maintain(p_setup text default null) returns table (step text, changed bigint)
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_setting taskqueue.setting;
begin
  for v_setting in select s.* from taskqueue.setting s where p_setup is null or s.setup = p_setup order by s.setup loop
    perform resource.identify(v_setting.setup);
    return query select m.step, m.changed from taskqueue.maintain_setup(v_setting) m;
  end loop;
  if p_setup is null then
    step := 'history partitions';
    changed := 0;
    begin
      changed := taskqueue.make_history_partitions();
    exception when lock_not_available then
      null;  -- somebody reads the history for long: next time
    end;
    return next;
  end if;
end $$;

comment on function taskqueue.maintain(text) is
  'Background work of one setup or all: recomputes the shares of groups whose queues changed, folds counts, '
  'removes empty queues and forgotten definitions and requests, rolls up the resources seen; for all setups also makes '
  'and drops history partitions. Returns what it did, a row a step. Errors: PB002 (setup not granted).';
