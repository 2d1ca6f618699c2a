-- LEASES.md, Ended jobs: ended jobs are kept so that their ids are known and their attempts continue. This function
-- forgets them. A row that an insertion or a retry takes at the same time is skipped, so that no call waits here in
-- another order of rows.
create or replace function taskqueue.forget_ended(p_setup text, p_older_than interval default '1 day') returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_gone bigint[];
begin
  perform resource.identify(p_setup);
  if p_older_than is null or p_older_than not between interval '0' and interval '1000 years' then
    raise exception 'invalid older_than %', coalesce(p_older_than::text, 'null')
      using errcode = 'PB001', hint = 'Give an interval within 0 and 1000 years.';
  end if;
  with old as materialized (
    select e.ctid from taskqueue.ended e
     where e.setup = p_setup and e.ended_at <= resource.clock(p_setup) - p_older_than
       for update skip locked
  ), gone as (
    delete from taskqueue.ended e where e.ctid = any (array(select o.ctid from old o))
    returning e.job_id
  )
  select array_agg(g.job_id) into v_gone from gone g;
  -- a new insertion of the id deletes the ended row first, so this does not remove its new payload
  perform workload.forget_payloads(p_setup, v_gone);
  return coalesce(cardinality(v_gone), 0);
end $$;

comment on function taskqueue.forget_ended(text, interval) is
  'Forgets the jobs that ended at least p_older_than ago, with their payloads; returns how many. The attempts of such '
  'an id start at 1 again if it is inserted again. Errors: PB001, PB002 (setup not granted).';
