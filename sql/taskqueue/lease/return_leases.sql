-- The schema instance calls this for leases whose worker node is gone. A job that is marked for kill does not go back.
create or replace function taskqueue.return_leases(p_setup text, p_job_ids bigint[], p_why text) returns void
language plpgsql as $$
declare
  v_leases taskqueue.lease[];
begin
  if p_job_ids = '{}' then
    return;
  end if;
  perform taskqueue.enter_setup(p_setup);
  v_leases := array(
    select l.o
      from (select distinct u from unnest(p_job_ids) u order by u) u (job_id)
     cross join lateral (select o from taskqueue.lease o where o.setup = p_setup and o.job_id = u.job_id for update) l);
  perform taskqueue.end_leases(p_setup, array(
    select (l, 'cancelled', null, null, null, null, null)::taskqueue.lease_event
      from unnest(v_leases) l where l.kill_reason is not null));
  v_leases := array(select l::taskqueue.lease from unnest(v_leases) l where l.kill_reason is null);
  if v_leases <> '{}' then
    perform taskqueue.return_jobs(p_setup, v_leases, p_why, p_is_loss => true);
  end if;
end $$;

comment on function taskqueue.return_leases(text, bigint[], text) is
  'Puts those of the given jobs that are leased back into their TaskQueues; jobs marked for kill end as cancelled. '
  'Errors: PB005 (the status of a brokered job does not allow the return).';
