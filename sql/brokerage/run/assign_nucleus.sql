-- The task goes on where it was before the task broker had it: JEDI's assigning becomes ready.
create or replace function brokerage.assign_nucleus(p_run brokerage.run, p_task brokerage.task_facts, p_nuclei text[], p_probabilities float8[]) returns float8[]
language plpgsql
as $$
declare
  v_place int := brokerage.draw_nucleus(p_probabilities, case when p_run.seed is not null then hashint8extended(p_task.task_id, p_run.seed) end);
  v_given float8[] := array_fill(0::float8, array[cardinality(p_nuclei)]);
begin
  v_given[v_place] := case when p_task.gshare is not null then greatest(coalesce(p_task.work, 0), 0) else 0 end;
  insert into brokerage.nucleus_assignment as a (setup, task_id, run_id, nucleus, probability, gshare, priority, work, assigned_at)
  values (p_run.setup, p_task.task_id, p_run.run_id, p_nuclei[v_place], p_probabilities[v_place], p_task.gshare, p_task.current_priority,
          greatest(coalesce(p_task.work, 0), 0), p_run.started_at)
  on conflict (setup, task_id) do update
     set run_id = excluded.run_id, nucleus = excluded.nucleus, probability = excluded.probability, gshare = excluded.gshare, priority = excluded.priority,
         work = excluded.work, assigned_at = excluded.assigned_at;
  update workload.task t set nucleus = p_nuclei[v_place], status = case when t.status = 'assigning' then 'ready' else t.status end
   where t.setup = p_run.setup and t.task_id = p_task.task_id;
  return v_given;
end $$;

comment on function brokerage.assign_nucleus(brokerage.run, brokerage.task_facts, text[], float8[]) is
'Sends a task to one of its nuclei, drawn by their probabilities, and returns the work that each of them gets, which counts for the next tasks of its share.';
