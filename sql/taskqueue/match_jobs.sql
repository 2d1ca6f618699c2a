-- after: taskqueue.lease_jobs
-- Sections 4 and 5, the batch form: up to p_limit jobs for one resource in one call, each drawn by the same law.
-- Mostly the description is known, and the first queue drawn that its sites, platforms and tags do not rule out asks for nothing that would have to be
-- looked at more closely: two statements then do it all. Everything else is for taskqueue.lease_job, which begins at the same seed and so with the
-- same draws. Each statement costs 10 us and more to start, each expression
-- of this language 1 us a transaction: that is why there are so few, and why what taskqueue.lease_from_queue does stands here once more.
-- The planner's settings: a plan made while job_count_change or resource_seen is empty reads them whole, and stays when they have grown
-- (p99 5.0 ms instead of 1.2 at 5,000 matches after a vacuum); one plan for all calls spares a connection its first five.
create or replace function taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit int, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_agent record;
  v_seed bigint;
  v_job_seed bigint;
  v_jobs bigint;
  v_identity resource.identity;
  v_known taskqueue.known_offer;
  v_leased taskqueue.leased;
begin
  if p_request_id is not null or p_limit is null or p_limit not between 1 and 1000 then
    return query select * from taskqueue.match_once(p_setup, p_resource, p_limit, p_request_id);
    return;
  end if;
  perform taskqueue.enter(p_setup);
  select i.role_name, (k.offer).sites[1] as site, (k.offer).grid_ces[1] as grid_ce, k.ten_first, k.lease_time, k.cpu_buckets[width_bucket((p_resource -> 'CPUTime')::float8, k.cpu_buckets)]::bigint as bucket,
         case when (k.offer).sites is null then array[''] else array[(k.offer).sites[1], '*'] end as sites, (k.offer).platforms, (k.offer).tags, k.tests, k.policy, t.now, taskqueue.new_seed() as seed
    into v_agent
    from resource.identity i
    join resource.setup_time t on t.setup = i.setup
   cross join (select case when jsonb_typeof(p_resource) = 'object' then p_resource - 'CPUTime' end as resource) r
    join taskqueue.known_offer k on k.setup = p_setup and k.digest = jsonb_hash_extended(r.resource, 0) and k.resource = r.resource
   where i.setup = p_setup and i.role_name = resource.caller() and not i.private
     and case when jsonb_typeof(p_resource -> 'CPUTime') = 'number' then (p_resource -> 'CPUTime')::numeric < 1e300 end
     and k.matching is null and k.tests & 1 = 0
     and k.cpu_buckets[width_bucket((p_resource -> 'CPUTime')::float8, k.cpu_buckets)]::bigint = any (k.seen) and (k.seen_at > t.now - interval '10 seconds' or random() > 0.02)  -- else it is noted again (taskqueue.see_resource)
   limit 1;
  for v_number in 1 .. p_limit loop
    job_id := null;
    v_seed := hashint8extended(v_number, v_agent.seed);
    v_job_seed := v_seed # 4;
    if v_agent.bucket is not null and v_known.matching is null then  -- else taskqueue.lease_job has other draws
      with drawn as (
        select p.task_queue_id, p.definition_id, d.cpu_time, d.owner_group, d.owner_dn, d.requirements, d.demands & v_agent.tests = 0 as plain
          from taskqueue.queue_points(p_setup, v_agent.sites, v_agent.bucket, v_seed, v_agent.policy, 8) p
          join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
         where p.comes and v_agent.sites[1] <> all (d.banned_sites)
           and (v_agent.platforms is null or cardinality(d.platforms) = 0 or d.platforms && v_agent.platforms)
           and (v_agent.tags is null or d.tags <@ v_agent.tags)
         order by p.number
         limit 1
      ), gone as (
        delete from taskqueue.job j
         using (select o.*, f.jobs, k.job_id, gen_random_uuid() as token
                  from drawn o
                 cross join lateral taskqueue.pick_job(p_setup, o.task_queue_id, v_agent.ten_first, v_agent.policy, v_job_seed) f
                 cross join lateral (
                       select l.job_id from taskqueue.job l
                        where l.setup = p_setup and l.job_id = f.job_id and l.task_queue_id = o.task_queue_id and l.user_priority = f.user_priority and not l.held
                          for update skip locked) k
                 where o.plain) p
         where j.setup = p_setup and j.job_id = p.job_id
        returning p.*, j.user_priority, j.attempts + 1 as attempt
      ), counted as (
        insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
        select p_setup, g.task_queue_id, g.user_priority, -1 from gone g
      ), leased as (
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
        select p_setup, g.job_id, g.attempt, g.token, g.task_queue_id, g.definition_id, g.user_priority, v_agent.site, v_agent.grid_ce, v_agent.role_name,
               v_agent.now, v_agent.now + v_agent.lease_time
          from gone g
      ), noted as (
        insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn,
                                       user_priority, site, grid_ce, role_name)
        select p_setup, v_agent.now, g.job_id, g.attempt, 'matched', g.task_queue_id, g.definition_id, g.cpu_time, g.owner_group, g.owner_dn,
               g.user_priority, v_agent.site, v_agent.grid_ce, v_agent.role_name
          from gone g
      )
      select g.job_id, g.task_queue_id, g.requirements, g.user_priority, taskqueue.attempt_text(g.attempt, g.token), g.jobs
        into job_id, task_queue_id, requirements, user_priority, attempt, v_jobs
        from gone g;
    end if;
    if job_id is null then
      if v_identity is null then
        v_identity := resource.identify(p_setup);
        v_known := taskqueue.known_offer_of(p_setup, p_resource, v_identity);
      end if;
      v_leased := taskqueue.lease_job(p_setup, v_known, coalesce(v_seed, taskqueue.new_seed()), v_identity.role_name);
      if v_number = 1 then
        perform taskqueue.see_resource(p_setup, p_resource, v_known, v_leased.job_id is not null);
      end if;
      exit when v_leased.job_id is null;
      job_id := v_leased.job_id;
      task_queue_id := v_leased.task_queue_id;
      requirements := v_leased.requirements;
      user_priority := v_leased.user_priority;
      attempt := v_leased.attempt;
      if v_number < p_limit and ((v_known.offer).limited or v_known.matched_at is null) then  -- what this job changed, or found out
        v_known := taskqueue.known_offer_of(p_setup, p_resource, v_identity);
      end if;
    elsif v_jobs <= 1 then
      perform taskqueue.drop_if_empty(p_setup, task_queue_id);
    elsif v_seed & 15 = 0 then
      perform taskqueue.fold_counts(p_setup, task_queue_id);
      perform taskqueue.post_pending(p_setup);
    end if;
    return next;
    exit when (v_known.offer).job_id is not null;
  end loop;
end $$;

comment on function taskqueue.match_jobs(text, jsonb, int, uuid) is
'Leases up to p_limit (1..1000) waiting jobs to a resource; no row: nothing matches now. The same request id within ten minutes gives the same jobs. Errors: PB001 (description; section 4), PB002 (setup not granted).';
