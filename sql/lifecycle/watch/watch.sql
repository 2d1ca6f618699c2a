-- TIMEOUTS.md, Watching. One statement finds the setups in which something is due, and the others cost nothing. This is
-- a procedure, so that it can commit between steps: finished steps stay done, and locks are short. Leases are examined
-- again after each step that may take long with a million jobs. A procedure that commits cannot be SECURITY DEFINER,
-- and this one needs no rights of its own.
create or replace procedure lifecycle.watch(
  p_setup text default null, p_dry_run boolean default false, p_often boolean default false,
  inout p_report jsonb default null
)
language plpgsql as $$
declare
  v_setups text[] := case when p_setup is null then array(select d from lifecycle.setups_due(p_often) d)
                          else array(select s from lifecycle.setups(p_setup) s) end;
  v_setup text;
  v_step text;
  v_said jsonb;
  v_a_call int;  -- number of jobs between two commits; reading the jobs that are ready takes long with a million
  v_calls int;
  v_begun timestamptz;
  v_took jsonb := '{}'::jsonb;  -- seconds, by setup
begin
  p_report := '[]';
  foreach v_step in array case when p_dry_run and p_often then '{leases}'::text[]
                               when p_dry_run then '{leases,timeouts,fast-rebroker}'::text[]
                               when p_often then '{leases,retries,activate}'::text[]
                               else '{leases,timeouts,leases,fast-rebroker,leases,retries,activate,'
                                    'leases,shares,ended}'::text[] end
  loop
    foreach v_setup in array v_setups loop
      v_calls := 0;
      v_a_call := case v_step when 'activate' then 2000 else 1000 end;
      loop
        v_begun := clock_timestamp();
        begin
          v_said := lifecycle.watch_step(
            v_setup, v_step, p_dry_run,
            case when v_step in ('leases', 'timeouts', 'retries', 'activate') and not p_dry_run then v_a_call end);
        exception when others then  -- a fault in one setup does not stop the others, and the step is tried again
          v_said := jsonb_build_array(jsonb_build_object('rule', v_step, 'action', 'error: ' || sqlerrm, 'jobs', 0));
        end;
        p_report := p_report || coalesce((select jsonb_agg(jsonb_build_object('setup', v_setup) || e)
                                            from jsonb_array_elements(v_said) e), '[]');
        commit;
        v_calls := v_calls + 1;
        v_took := v_took || jsonb_build_object(
          v_setup, coalesce((v_took ->> v_setup)::float8, 0) + extract(epoch from clock_timestamp() - v_begun));
        -- together these calls touch about as many jobs as the setting most allows; after two seconds in a setup, each
        -- step has one call left, and the next round goes on
        exit when v_step not in ('leases', 'timeouts', 'retries', 'activate') or p_dry_run
                  or not exists (select from jsonb_array_elements(v_said) e where (e ->> 'jobs')::bigint >= v_a_call)
                  or (v_took ->> v_setup)::float8 > 2
                  or v_calls * v_a_call >= (select s.most from lifecycle.setting_in_force s where s.setup = v_setup);
      end loop;
    end loop;
  end loop;
  if not p_dry_run then
    perform workload.fold_counts();
    commit;
    if p_setup is null and not p_often then
      perform lifecycle.maintain();
      commit;
    end if;
  end if;
end $$;

comment on procedure lifecycle.watch(text, boolean, boolean, jsonb) is
  'Does all automatic work in a setup, or in all setups in which something is due (lifecycle.setups_due): expired '
  'leases, timeouts, fast rebrokerage, parts that retry rules give back, jobs whose input is there, counts, history, '
  'ended jobs. Commits between steps; after two seconds in a setup no step is repeated, and the next call goes on. '
  'p_often: only the steps that are needed every few seconds (leases, retry rules, jobs whose input is there, '
  'counts). p_dry_run: only reports the effect on expired leases, by timeouts and by fast rebrokerage; it stores '
  'nothing and does not wait. '
  'p_report becomes [{setup, rule, action, jobs}] for all steps that touched jobs. A step that fails is undone; its '
  'error takes the place of the action, and the other steps go on. Two simultaneous calls are safe. Errors: PB001 '
  '(there is no such setup), PB002 (setup not granted).';
