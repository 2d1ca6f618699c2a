create or replace procedure brokerage.broker_tasks(
  p_setup text, p_task_ids bigint[] default null, p_profile text default null, p_seed bigint default null,
  p_dry_run boolean default false, p_limit bigint default null, p_tasks_a_commit int default 250,
  inout p_run_id bigint default null
)
language plpgsql as $$
begin
  call brokerage.broker(p_setup, 'production_task', p_task_ids, p_profile, p_seed, p_dry_run, p_limit,
                        p_tasks_a_commit, p_run_id);
end $$;

comment on procedure brokerage.broker_tasks(text, bigint[], text, bigint, boolean, bigint, int, bigint) is
  'Brokers all tasks that are due, or those listed, highest current priority first: decides (brokerage.decision) and '
  'sends each to a nucleus (brokerage.nucleus_assignment, workload.task), whose remaining work the next tasks see. '
  'brokerage.broker_jobs explains the arguments and the commits. Errors: PB001 (no such setup or profile, an argument '
  'out of range, isolation level), PB002 (not an operator), PB004 (no such task), PB005 (its label is of another '
  'broker; a dry run decides it).';
