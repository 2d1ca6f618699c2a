-- A job that ends well, holds or transfers has been running. If nobody reported that, it is entered first.
create or replace function workload.move_job(
  p_setup text, p_job_id bigint, p_to text, p_why text, p_sub_status text default null
) returns text
language plpgsql as $$
declare
  v_from text;
begin
  select j.status into v_from from workload.job j where j.setup = p_setup and j.job_id = p_job_id for update;
  if not found then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Jobs are made by brokerage, or loaded.';
  end if;
  if v_from = p_to then
    return v_from;
  end if;
  if v_from in ('sent', 'starting') and p_to in ('finished', 'holding', 'transferring') then
    perform workload.change_status(p_setup, array[p_job_id], v_from, 'running', p_why);
    v_from := 'running';
  end if;
  perform workload.change_status(p_setup, array[p_job_id], v_from, p_to, p_why, p_sub_status);
  return v_from;
end $$;

comment on function workload.move_job(text, bigint, text, text, text) is
  'Brings a job to a status and returns the one it had; no change where it has it. '
  'Errors: PB004 (no such job), PB005 (there is no such change), naming both statuses.';
