-- A job that finishes, holds or transfers has been running. If nobody reported running, that status is entered first.
create or replace function workload.move_alike(
  p_setup text, p_job_ids bigint[], p_from text, p_to text, p_why text, p_sub_status text, p_skip_refused boolean
) returns bigint[]
language plpgsql as $$
declare
  v_from text := p_from;
begin
  if v_from in ('sent', 'starting') and p_to in ('finished', 'holding', 'transferring') then
    perform workload.change_status(p_setup, p_job_ids, v_from, 'running', p_why);
    v_from := 'running';
  end if;
  if v_from = p_to then
    return p_job_ids;
  elsif p_skip_refused and not exists (select from workload.transition t
                                        where t.from_status = v_from and t.to_status = p_to) then
    return '{}'::bigint[];
  end if;
  return workload.change_status(p_setup, p_job_ids, v_from, p_to, p_why, p_sub_status);
end $$;

comment on function workload.move_alike(text, bigint[], text, text, text, text, boolean) is
  'Changes locked jobs from one status to another, and returns them; for workload.move_jobs.';
