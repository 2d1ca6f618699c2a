-- The background work of the schema, called every few seconds by `broker run`, pg_cron or another scheduler. Two calls
-- may run at the same time; each step skips rows that another transaction has locked. Steps that find few rows in large
-- tables run once a minute. A call for all setups is one transaction, so it takes no longer than a call for one setup,
-- and leaves out a setup on which another such call works: two of them would wait for each other's setups.
create or replace function taskqueue.maintain(p_setup text default null, p_often boolean default false)
returns table (step text, changed bigint)
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_often boolean := coalesce(p_often, false);
  v_end timestamptz := clock_timestamp() + interval '2 seconds';
  v_setup text;
  v_setting taskqueue.setting;
begin
  perform resource.require_primary();
  for v_setup in
    select d from taskqueue.setups_due(v_often) d where p_setup is null
    union all
    select s.setup from taskqueue.setting s where s.setup = p_setup
  loop
    continue when p_setup is null
              and not pg_try_advisory_xact_lock(hashtext('taskqueue.maintain'), hashtext(v_setup));
    perform resource.identify(v_setup);
    if not v_often and taskqueue.counts_of_another_server(v_setup) then
      perform taskqueue.rebuild_matching(v_setup);
    end if;
    -- the call has the setup for itself then, so the other steps, and other setups, are left to the next call
    exit when not v_often and taskqueue.renumber_if_sparse(v_setup);
    perform taskqueue.enter_setup(v_setup);
    select s.* into v_setting from taskqueue.setting s where s.setup = v_setup;
    continue when not found;  -- the setup was removed while this call waited
    return query select m.step, m.changed from taskqueue.maintain_setup(v_setting, v_often, v_end) m;
    exit when clock_timestamp() > v_end;
  end loop;
  if p_setup is null and not v_often then
    return query select 'history partitions', taskqueue.make_history_partitions();
  end if;
end $$;

comment on function taskqueue.maintain(text, boolean) is
  'Background work of one setup, or of all in which something is due (taskqueue.setups_due): resumes jobs at the end '
  'of the hold of a retry rule, with the changes of the rule, recomputes the shares of groups whose TaskQueues '
  'changed, deals hands, removes empty TaskQueues and old requests, moves unused definitions to the past ones and '
  'drops old past ones, and rolls up the resources seen; a call for all setups also makes and drops history '
  'partitions. A call ends after two seconds and a portion of a step, also for all setups; the next call goes on with '
  'the rest. p_often: only the steps that are needed every few seconds (due retries, shares, hands, lists, resources '
  'seen). Returns a row per step with the number of changes. Errors: PB002 (setup not granted).';
