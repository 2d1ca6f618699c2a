-- Up to p_limit jobs for one resource: together where that can be, one after the other where limits, a JobID or a seed
-- ask for it.
create or replace function taskqueue.lease_batch(
  p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql as $$
declare
  v_known taskqueue.known_offer;
begin
  if p_limit > 2 and p_seed is null then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    if not taskqueue.goes_alone(v_known) then
      return query
        select l.job_id, l.task_queue_id, l.requirements, l.user_priority, l.attempt
          from taskqueue.lease_together(p_setup, array[p_resource], array[v_known],
                                        taskqueue.new_streams(array[v_known], array[p_limit]),
                                        array[row(null, (resource.subject()).name)::taskqueue.asker]) l;
      if taskqueue.shall_note_resource(v_known, (v_known.offer).cpu_time, found, resource.clock(p_setup)) then
        perform taskqueue.note_resource(p_setup, p_resource, v_known, found, null);
      end if;
      return;
    end if;
  end if;
  return query select * from taskqueue.lease_jobs(p_setup, p_resource, p_limit, p_seed);
end $$;

comment on function taskqueue.lease_batch(text, jsonb, int, bigint) is
  'Leases up to p_limit jobs to a resource; with a seed, the draws follow from the seed. Errors: PB001 (description), '
  'PB002 (setup not granted).';
