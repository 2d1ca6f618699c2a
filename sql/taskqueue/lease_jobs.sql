-- Section 8: a match is a lease. Jobs are taken one after the other by the law of section 5, each with its own draws.
create or replace function taskqueue.lease_jobs(p_setup text, p_offer taskqueue.offer, p_limit int, p_seed bigint, p_role_name text)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
as $$
declare
  v_taken record;
  v_now timestamptz := resource.clock(p_setup);
  v_token uuid;
  v_site text;
  v_grid_ce text;
  v_lease_time interval := (select s.lease_time from taskqueue.setting s where s.setup = p_setup);
begin
  for v_number in 1..p_limit loop
    if p_offer.job_id is not null then
      select t.job, t.definition, t.slots into v_taken from taskqueue.take_wanted(p_setup, p_offer) t;
    else
      select t.job, t.definition, t.slots into v_taken from taskqueue.take(p_setup, p_offer, hashint8extended(v_number, p_seed)) t;
    end if;
    exit when not found;
    v_token := gen_random_uuid();
    v_site := taskqueue.first_site(p_offer.sites, (v_taken.definition).sites, (v_taken.definition).banned_sites);
    v_grid_ce := taskqueue.first_site(p_offer.grid_ces, (v_taken.definition).grid_ces, '{}');
    insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
    values (p_setup, (v_taken.job).job_id, (v_taken.job).attempts + 1, v_token, (v_taken.job).task_queue_id, (v_taken.definition).definition_id,
            (v_taken.job).user_priority, v_site, v_grid_ce, p_role_name, v_now, v_now + v_lease_time);
    insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn,
                                   user_priority, site, grid_ce, role_name)
    values (p_setup, v_now, (v_taken.job).job_id, (v_taken.job).attempts + 1, 'matched', (v_taken.job).task_queue_id,
            (v_taken.definition).definition_id, (v_taken.definition).cpu_time, (v_taken.definition).owner_group, (v_taken.definition).owner_dn,
            (v_taken.job).user_priority, v_site, v_grid_ce, p_role_name);
    if v_taken.slots <> '[]' then
      perform taskqueue.use_slots(p_setup, (v_taken.job).job_id, v_taken.slots);
    end if;
    job_id := (v_taken.job).job_id;
    task_queue_id := (v_taken.job).task_queue_id;
    requirements := (v_taken.definition).requirements;
    user_priority := (v_taken.job).user_priority;
    attempt := taskqueue.attempt_text((v_taken.job).attempts + 1, v_token);
    return next;
    exit when p_offer.job_id is not null;
  end loop;
end $$;

comment on function taskqueue.lease_jobs(text, taskqueue.offer, int, bigint, text) is
'Leases up to p_limit jobs to an offer; the draws follow from the seed. The last step of every match.';
