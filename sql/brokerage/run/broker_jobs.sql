create or replace procedure brokerage.broker_jobs(
  p_setup text, p_task_ids bigint[] default null, p_profile text default null, p_seed bigint default null,
  p_dry_run boolean default false, p_limit bigint default null, p_tasks_a_commit int default 250,
  inout p_run_id bigint default null
)
language plpgsql as $$
begin
  call brokerage.broker(p_setup, 'production_job', p_task_ids, p_profile, p_seed, p_dry_run, p_limit,
                        p_tasks_a_commit, p_run_id);
end $$;

comment on procedure brokerage.broker_jobs(text, bigint[], text, bigint, boolean, bigint, int, bigint) is
  'Brokers the jobs of all tasks that are due, or of those listed, highest current priority first: decides '
  '(brokerage.decision) and assigns jobs to queues (brokerage.assignment). p_seed makes draws repeatable, p_dry_run '
  'stores only decisions, p_limit is the highest number of tasks. The call commits after every p_tasks_a_commit tasks; '
  'null means never, so that it can run in a transaction of the caller. Concurrent calls share the work. p_run_id '
  'returns the run of the decisions. A listed task is decided even if it is not due, if its label belongs to this '
  'broker; a notice names listed tasks that are not due. Within a transaction block, or from a function, PostgreSQL '
  'refuses to commit (invalid transaction termination, 2D000): give p_tasks_a_commit => null there. Errors: PB001 (no '
  'such setup or profile, an argument out of range, isolation level), PB002 (not an operator), PB004 (no such task), '
  'PB005 (its label belongs to another broker; a dry run decides it).';
