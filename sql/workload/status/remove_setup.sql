-- No foreign key removes jobs, counts, changes and history with the setup.
create or replace function workload.remove_setup(p_setup text) returns void
language plpgsql as $$
begin
  delete from workload.job j where j.setup = p_setup;
  delete from workload.failed_part p where p.setup = p_setup;
  delete from workload.job_change c where c.setup = p_setup;
  delete from workload.queue_count c where c.setup = p_setup;
  delete from workload.user_count c where c.setup = p_setup;
  delete from workload.task_count c where c.setup = p_setup;
  delete from workload.start_count c where c.setup = p_setup;
  delete from workload.end_count c where c.setup = p_setup;
  delete from workload.job_history h where h.setup = p_setup;
  delete from workload.payload p where p.setup = p_setup;
end $$;

comment on function workload.remove_setup(text) is
  'Deletes the jobs of a setup and their history and counts; taskqueue.remove_setup calls it.';
