-- The row that brokerage.assign_nuclei stores for a task and its nucleus.
create or replace function brokerage.nucleus_for(
  p_run brokerage.run, p_task brokerage.task_facts, p_nuclei text[], p_probabilities float8[]
) returns brokerage.nucleus_assignment
language plpgsql volatile as $$
declare
  v_place int := brokerage.draw_nucleus(
    p_probabilities, case when p_run.seed is not null then hashint8extended(p_task.task_id, p_run.seed) end);
begin
  return (p_run.setup, p_task.task_id, p_run.run_id, p_nuclei[v_place], p_probabilities[v_place], p_task.gshare,
          p_task.current_priority,
          greatest(coalesce(p_task.work, 0), 0), p_run.started_at)::brokerage.nucleus_assignment;
end $$;

comment on function brokerage.nucleus_for(brokerage.run, brokerage.task_facts, text[], float8[]) is
  'Draws one of the nuclei of a task by their probabilities. The result is the assignment, with the work that the '
  'task brings.';
