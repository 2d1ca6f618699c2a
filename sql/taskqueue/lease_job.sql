-- Section 8: a match is a lease, from the same commit on.
create or replace function taskqueue.lease_job(p_setup text, p_known taskqueue.known_offer, p_seed bigint, p_role_name text) returns taskqueue.leased
language plpgsql
as $$
declare
  v_taken taskqueue.taken;
  v_job taskqueue.job;
  v_definition taskqueue.definition;
  v_now timestamptz := resource.clock(p_setup);
  v_token uuid := gen_random_uuid();
  v_site text;
  v_grid_ce text;
begin
  if (p_known.offer).job_id is not null then
    v_taken := taskqueue.take_wanted(p_setup, p_known.offer);
  else
    v_taken := taskqueue.take(p_setup, p_known, p_seed);
  end if;
  v_job := v_taken.job;
  if v_job.job_id is null then
    return null;
  end if;
  v_definition := v_taken.definition;
  v_site := taskqueue.first_site((p_known.offer).sites, v_definition.sites, v_definition.banned_sites);
  v_grid_ce := taskqueue.first_site((p_known.offer).grid_ces, v_definition.grid_ces, '{}');
  insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
  values (p_setup, v_job.job_id, v_job.attempts + 1, v_token, v_job.task_queue_id, v_definition.definition_id,
          v_job.user_priority, v_site, v_grid_ce, p_role_name, v_now, v_now + p_known.lease_time);
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn,
                                 user_priority, site, grid_ce, role_name)
  values (p_setup, v_now, v_job.job_id, v_job.attempts + 1, 'matched', v_job.task_queue_id, v_definition.definition_id,
          v_definition.cpu_time, v_definition.owner_group, v_definition.owner_dn, v_job.user_priority, v_site, v_grid_ce, p_role_name);
  if v_taken.slots <> '[]' then
    perform taskqueue.use_slots(p_setup, v_job.job_id, v_taken.slots);
  end if;
  return row(v_job.job_id, v_job.task_queue_id, v_definition.requirements, v_job.user_priority::int,
             taskqueue.attempt_text(v_job.attempts + 1, v_token))::taskqueue.leased;
end $$;

comment on function taskqueue.lease_job(text, taskqueue.known_offer, bigint, text) is
'Takes a job for an offer and writes its lease and its history; null: nothing matches now. The draws follow from the seed.';
