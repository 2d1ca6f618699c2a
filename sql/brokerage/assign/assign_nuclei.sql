-- Tasks continue in the state in which the task broker took them: JEDI's assigning becomes ready. The work that they
-- bring counts for the next ones (brokerage.work_at_nucleus).
create or replace function brokerage.assign_nuclei(p_assignments brokerage.nucleus_assignment[]) returns void
language plpgsql as $$
begin
  insert into brokerage.nucleus_assignment as a (setup, task_id, run_id, nucleus, probability, gshare, priority,
                                                 work, assigned_at)
  select n.setup, n.task_id, n.run_id, n.nucleus, n.probability, n.gshare, n.priority, n.work, n.assigned_at
    from unnest(p_assignments) n
  on conflict (setup, task_id) do update
     set run_id = excluded.run_id, nucleus = excluded.nucleus, probability = excluded.probability,
         gshare = excluded.gshare, priority = excluded.priority,
         work = excluded.work, assigned_at = excluded.assigned_at;
  update workload.task t
     set nucleus = n.nucleus, status = case when t.status = 'assigning' then 'ready' else t.status end
    from unnest(p_assignments) n
   where t.setup = n.setup and t.task_id = n.task_id;
end $$;

comment on function brokerage.assign_nuclei(brokerage.nucleus_assignment[]) is 'Sends tasks to their nuclei.';
