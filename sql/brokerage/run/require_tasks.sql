-- A listed task that does not exist is an error, as is a task whose label belongs to another broker: otherwise a wrong
-- number would assign that task.
create or replace function brokerage.require_tasks(p_setup text, p_task_ids bigint[], p_algorithm text default null)
returns void
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
declare
  v_missing bigint[];
  v_other record;
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  v_missing := array(select distinct u.task_id from unnest(p_task_ids) u(task_id)
                      where not exists (select from workload.task t where t.setup = p_setup and t.task_id = u.task_id)
                      order by 1);
  if cardinality(v_missing) > 0 then
    raise exception '% in setup %',
      case when cardinality(v_missing) = 1 then format('task %s is not', coalesce(v_missing[1]::text, 'null'))
           else format('tasks %s%s are not', array_to_string(v_missing[:5], ', ', 'null'),
                       case when cardinality(v_missing) > 5
                            then format(' and %s more', cardinality(v_missing) - 5) end) end,
      p_setup
      using errcode = 'PB004',
            hint = 'Load it with its world (broker load), or name another: broker tasks lists them.';
  end if;
  select t.task_id, t.label into v_other
    from workload.task t
   where t.setup = p_setup and t.task_id = any (p_task_ids)
     and (p_algorithm = 'analysis_job') <> coalesce(t.label in ('user', 'panda'), false)
   order by t.task_id limit 1;
  if found then
    raise exception 'task % has label %, which % does not broker', v_other.task_id,
      coalesce(v_other.label, 'null'), p_algorithm
      using errcode = 'PB005',
            hint = 'brokerage.broker_analysis brokers tasks of the labels user and panda, broker_tasks and broker_jobs '
                   'all others. A dry run decides about any task.';
  end if;
end $$;

comment on function brokerage.require_tasks(text, bigint[], text) is
  'Refuses tasks that do not exist, naming them, and tasks whose label belongs to another broker than p_algorithm '
  '(null means any). Errors: PB001 (no such setup), PB002, PB004 (no such task), PB005 (label).';
