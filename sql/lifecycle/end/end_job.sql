-- STATES.md, Brokered jobs. A job in any state ends, and leaves its TaskQueue and all counts in the same commit. Rows
-- are locked in the order TaskQueue, lease, job, as agents lock them; end_job waits for a caller that is moving the
-- job. A job that neither waits nor is leased ends only from the status that it had before both tables were read. If it
-- was moved in between, the tables are read once more.
create or replace function lifecycle.end_job(
  p_setup text, p_job_id bigint, p_outcome text, p_why text, p_sub_status text default null
) returns text
language plpgsql as $$
declare
  v_lease taskqueue.lease;
  v_from text;
begin
  loop
    select j.status into v_from from workload.job j where j.setup = p_setup and j.job_id = p_job_id;
    if not found then
      raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup
        using errcode = 'PB004', hint = 'Jobs are made by brokerage, or loaded.';
    elsif workload.is_end(v_from) then
      raise exception 'job % has ended: %', p_job_id, v_from
        using errcode = 'PB005', hint = 'An ended job stays as it is.';
    elsif taskqueue.end_waiting(p_setup, p_job_id, p_outcome, resource.identify(p_setup), p_why,
                                p_sub_status) is not null then
      return v_from;
    end if;
    select l.* into v_lease from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
    if found then
      perform taskqueue.end_leases(p_setup, array[(v_lease, p_outcome, null, p_why, null,
                                                   case p_sub_status when 'heartbeat' then 'lost' else 'time' end,
                                                   null)::taskqueue.lease_event], p_sub_status);
      return v_from;
    end if;
    begin
      if workload.change_status(p_setup, array[p_job_id], v_from, p_outcome, p_why, p_sub_status) <> '{}' then
        if exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
          raise exception 'job % was matched and given back in between', p_job_id
            using errcode = 'PB006', hint = 'Try again.';
        end if;
        return v_from;
      end if;
    exception when sqlstate 'PB006' then
      null;  -- the change is undone, and the next round finds the job where it waits
    end;
  end loop;
end $$;

comment on function lifecycle.end_job(text, bigint, text, text, text) is
  'Ends a job, whether it waits in a TaskQueue, is leased or neither, and returns its last status. Errors: PB002 '
  '(setup not granted), PB004 (no such job), PB005 (it has ended).';
