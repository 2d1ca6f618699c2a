-- The background work of the schema, called every few seconds by `broker run`, pg_cron or another scheduler. Two calls
-- may run at the same time; each step skips rows that another transaction has locked. Steps that find few rows in large
-- tables run once a minute.
create or replace function taskqueue.maintain(p_setup text default null, p_often boolean default false)
returns table (step text, changed bigint)
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_setup text;
  v_setting taskqueue.setting;
begin
  perform resource.require_primary();
  for v_setup in select s.setup from taskqueue.setting s where p_setup is null or s.setup = p_setup order by s.setup
  loop
    perform resource.identify(v_setup);
    if not coalesce(p_often, false) and taskqueue.counts_of_another_server(v_setup) then
      perform taskqueue.rebuild_matching(v_setup);
    end if;
    -- the call has the setup for itself then, so the other steps are left to the next call
    continue when not coalesce(p_often, false) and taskqueue.renumber_if_sparse(v_setup);
    perform taskqueue.enter_setup(v_setup);
    select s.* into v_setting from taskqueue.setting s where s.setup = v_setup;
    continue when not found;  -- the setup was removed while this call waited
    return query select m.step, m.changed from taskqueue.maintain_setup(v_setting, coalesce(p_often, false)) m;
  end loop;
  if p_setup is null and p_often is not true then
    return query select 'history partitions', taskqueue.make_history_partitions();
  end if;
end $$;

comment on function taskqueue.maintain(text, boolean) is
  'Background work of one setup or of all: resumes jobs at the end of the hold of a retry rule, with the changes of '
  'the rule, recomputes the shares of groups whose TaskQueues changed, deals hands, removes empty TaskQueues and old '
  'requests, moves unused definitions to the past ones and drops old past ones, and rolls up the resources seen; a '
  'call for all setups also makes and drops history partitions. p_often: only the steps that are needed every few '
  'seconds (due retries, shares, hands, lists, resources seen). Returns a row per step with the number of '
  'changes. Errors: PB002 (setup not granted).';
