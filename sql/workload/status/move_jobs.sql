-- workload.move_job for many: a job that ends well, holds or transfers has been running.
create or replace function workload.move_jobs(p_setup text, p_job_ids bigint[], p_to text[], p_why text[])
returns bigint[]
language plpgsql as $$
declare
  v_group record;
begin
  perform from workload.job j where j.setup = p_setup and j.job_id = any (p_job_ids) order by j.job_id for update;
  for v_group in
    select w.from_status, w.enters, w.to_status, w.why, array_agg(w.job_id order by w.job_id) as ids
      from (select j.job_id, j.status as from_status, m.to_status, m.why,
                   j.status in ('sent', 'starting')
                   and m.to_status in ('finished', 'holding', 'transferring') as enters
              from unnest(p_job_ids, p_to, p_why) m (job_id, to_status, why)
              join workload.job j on j.setup = p_setup and j.job_id = m.job_id
             where j.status <> m.to_status) w
     where exists (select from workload.transition t
                    where t.from_status = case when w.enters then 'running' else w.from_status end
                      and t.to_status = w.to_status)
     group by w.from_status, w.enters, w.to_status, w.why
     order by min(w.job_id)
  loop
    if v_group.enters then
      perform workload.change_status(p_setup, v_group.ids, v_group.from_status, 'running', v_group.why);
    end if;
    perform workload.change_status(
      p_setup, v_group.ids, case when v_group.enters then 'running' else v_group.from_status end, v_group.to_status,
      v_group.why);
  end loop;
  return array(select j.job_id
                 from unnest(p_job_ids, p_to) m (job_id, to_status)
                 join workload.job j on j.setup = p_setup and j.job_id = m.job_id and j.status = m.to_status);
end $$;

comment on function workload.move_jobs(text, bigint[], text[], text[]) is
  'Brings jobs each to a status, with why, and returns those that have it now. A job that is not there, or whose '
  'status does not allow the change, is left as it is.';
