-- A task that is named and not there is an error, not a task that is passed over.
create or replace function brokerage.require_tasks(p_setup text, p_task_ids bigint[]) returns void
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_missing bigint[];
begin
  perform resource.look(p_setup);
  perform resource.require_known_setup(p_setup);
  v_missing := array(select distinct u.task_id from unnest(p_task_ids) u(task_id)
                      where not exists (select from workload.task t where t.setup = p_setup and t.task_id = u.task_id) order by 1);
  if cardinality(v_missing) > 0 then
    raise exception '% in setup %',
      case when cardinality(v_missing) = 1 then format('task %s is not', coalesce(v_missing[1]::text, 'null'))
           else format('tasks %s%s are not', array_to_string(v_missing[:5], ', ', 'null'), case when cardinality(v_missing) > 5 then format(' and %s more', cardinality(v_missing) - 5) end) end, p_setup
      using errcode = 'PB004', hint = 'Load it with its world (broker load), or name another: brokerage.task_standing lists the tasks that there are.';
  end if;
end $$;

comment on function brokerage.require_tasks(text, bigint[]) is 'Refuses tasks that are not there, naming them. Errors: PB001 (no such setup), PB002, PB004 (no such task).';
