-- after: taskqueue.lease_job
-- Jobs are taken one after the other by the law of section 5, each with its own draws.
create or replace function taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit int, p_seed bigint, p_identity resource.identity)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
as $$
declare
  v_known taskqueue.known_offer := taskqueue.known_offer_of(p_setup, p_resource, p_identity);
  v_leased taskqueue.leased;
begin
  for v_number in 1..p_limit loop
    v_leased := taskqueue.lease_job(p_setup, v_known, hashint8extended(v_number, p_seed), p_identity.role_name);
    if v_number = 1 then
      perform taskqueue.see_resource(p_setup, p_resource, v_known, v_leased.job_id is not null);
    end if;
    exit when v_leased.job_id is null;
    job_id := v_leased.job_id;
    task_queue_id := v_leased.task_queue_id;
    requirements := v_leased.requirements;
    user_priority := v_leased.user_priority;
    attempt := v_leased.attempt;
    return next;
    exit when v_number = p_limit or (v_known.offer).job_id is not null;
    if (v_known.offer).limited or v_number = 1 and v_known.matched_at is null then  -- what the first job changed, or found out
      v_known := taskqueue.known_offer_of(p_setup, p_resource, p_identity);
    end if;
  end loop;
end $$;

comment on function taskqueue.lease_jobs(text, jsonb, int, bigint, resource.identity) is
'Leases up to p_limit jobs to a resource; the draws follow from the seed. Errors: PB001 (description).';
