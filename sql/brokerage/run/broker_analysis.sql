create or replace procedure brokerage.broker_analysis(
  p_setup text, p_task_ids bigint[] default null, p_profile text default null, p_seed bigint default null,
  p_dry_run boolean default false, p_limit bigint default null, p_tasks_a_commit int default 250,
  inout p_run_id bigint default null
)
language plpgsql as $$
begin
  call brokerage.broker(p_setup, 'analysis_job', p_task_ids, p_profile, p_seed, p_dry_run, p_limit,
                        p_tasks_a_commit, p_run_id);
end $$;

comment on procedure brokerage.broker_analysis(text, bigint[], text, bigint, boolean, bigint, int, bigint) is
  'Brokers the jobs of all user tasks (label user or panda) that are due, or of those listed, highest current '
  'priority first: decides (brokerage.decision) and assigns jobs to queues (brokerage.assignment). '
  'brokerage.broker_jobs explains the arguments and the commits. Errors: PB001 (no such setup or profile, an argument '
  'out of range, isolation level), PB002 (not an operator), PB004 (no such task), PB005 (its label is of another '
  'broker; a dry run decides it).';
