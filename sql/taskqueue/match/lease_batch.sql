-- DRAWING.md, Guarantees of the draw: a batch draws the TaskQueues of its jobs side by side, each with a random stream
-- of its own, in three statements instead of six per job. The distribution is that of single matches: the draw of a
-- TaskQueue does not depend on the number of its jobs, so all streams draw a TaskQueue first; of the streams that drew
-- the same one, one at a time picks a job. Where a batch cannot be served together, taskqueue.lease_jobs continues it,
-- one job at a time: from the first stream whose TaskQueue is empty by then, or that drew no TaskQueue; where a job was
-- locked or just taken; and as a whole for resources with limits, and for resources that few TaskQueues match. Long
-- because its statements share the streams.
create or replace function taskqueue.lease_batch(
  p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql as $$
declare
  v_brokered bigint[] := '{}'::bigint[];
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_secret uuid := gen_random_uuid();
  v_streams taskqueue.stream[];
  v_leased taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_turn bigint := 0;
  v_stop int;  -- the first stream that lease_jobs continues
  v_task_queue record;
begin
  if p_limit > 2 then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
    v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  end if;
  if p_limit <= 2 or v_offer.limited or v_offer.job_id is not null or v_known.matching is not null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, p_limit, p_seed);
    return;
  end if;
  with recursive candidate as (
    select n as number,
           hashint8extended(n, coalesce(p_seed, uuid_hash_extended(v_secret, 0))) as seed,
           width_bucket(v_offer.cpu_time, v_known.cpu_buckets) as bucket_index,
           0 as tries, 0::float8 as last_key, null::bigint as task_queue_id, null::bigint as definition_id,
           8 as max_tries
      from generate_series(1, p_limit) n
    union all
    select c.number, c.seed, case when o.max_tries is null then c.bucket_index - 1 else c.bucket_index end,
           case when o.max_tries is null then 0 else c.tries + 1 end,
           case when o.max_tries is null then 0 else o.key end,
           case when f.is_accepted then o.task_queue_id end,
           case when f.is_accepted then (o.definition).definition_id end,
           case when o.max_tries is null then 8
                else greatest(c.max_tries,
                              case when v_known.matched_at is null then least(o.max_tries, 32) else o.max_tries end) end
      from candidate c
      left join lateral taskqueue.next_candidate(p_setup, v_sites, v_known.cpu_buckets[c.bucket_index]::bigint,
                                                 c.last_key, v_known.policy,
                                                 c.seed # ((c.bucket_index * 1000000::bigint + c.tries + 1) * 64),
                                                 v_offer, v_known.tests) o on true
     cross join lateral (
           select o.task_queue_id is not null
                  and coalesce(o.is_accepted,
                               taskqueue.accepts(o.definition, v_offer)
                               and (cardinality(v_sites) <= 2 or o.site = '*'
                                    or o.site = taskqueue.first_site(v_offer.sites, (o.definition).sites,
                                                                     (o.definition).banned_sites))) as is_accepted
           offset 0) f
     where c.task_queue_id is null and c.bucket_index > 0 and c.tries < c.max_tries)
  select array_agg(e.stream order by (e.stream).number),
         coalesce(min((e.stream).number) filter (where (e.stream).task_queue_id is null), p_limit + 1)
    into v_streams, v_stop
    from (select row(c.number, c.seed, c.bucket_index, c.tries, c.last_key, c.task_queue_id, c.definition_id,
                     row_number() over (partition by c.task_queue_id order by c.number),
                     null, null, null, null)::taskqueue.stream as stream
            from candidate c where c.task_queue_id is not null or c.bucket_index = 0 or c.tries >= c.max_tries) e;
  loop
    v_turn := v_turn + 1;
    exit when not exists (select from unnest(v_streams) s where s.turn = v_turn and s.number < v_stop);
    with picked as materialized (
      select s.*, f.job_id as picked_id, f.jobs as jobs_now
        from unnest(v_streams) s
        left join lateral taskqueue.pick_job(p_setup, s.task_queue_id, v_known.ten_first, v_known.policy, s.seed # 4) f
          on true
       where s.turn = v_turn and s.number < v_stop
    ), stop as materialized (
      select least(v_stop, min(s.number)) as number from unnest(v_streams) s
        join picked p on p.task_queue_id = s.task_queue_id where s.turn - v_turn >= coalesce(p.jobs_now, 0)
    ), gone as (
      delete from taskqueue.job j
       where j.setup = p_setup and j.ctid = any (array(select l.ctid from picked p
                                                         join taskqueue.job l
                                                           on l.setup = p_setup and l.job_id = p.picked_id
                                                          and l.task_queue_id = p.task_queue_id
                                                        where p.number < (select t.number from stop t) and not l.held
                                                          for update of l skip locked))
      returning j.job_id, j.task_queue_id, j.user_priority, j.attempts + 1 as attempt, j.brokered
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
      select p_setup, g.task_queue_id, g.user_priority, -1 from gone g
    ), leased as (
      insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site,
                                   grid_ce, role_name, matched_at, expires_at, brokered)
      select p_setup, g.job_id, g.attempt, md5(v_secret || '/' || p.number)::uuid, g.task_queue_id, p.definition_id,
             g.user_priority,
             case when cardinality(v_offer.sites) = 1 then v_offer.sites[1]
                  else taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites) end,
             case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1]
                  else taskqueue.first_site(v_offer.grid_ces, d.grid_ces, '{}') end,
             resource.caller(), t.now, t.now + v_known.lease_time, g.brokered
        from gone g
        join picked p on p.task_queue_id = g.task_queue_id
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
        join resource.setup_time t on t.setup = p_setup
      returning lease.job_id, lease.task_queue_id, lease.user_priority,
                taskqueue.attempt_text(lease.attempt, lease.token) as attempt, lease.brokered
    )
    select v_leased || array_agg(row(p.number, p.seed, p.bucket_index, p.tries, p.last_key, p.task_queue_id,
                                     p.definition_id, p.turn, p.jobs_now,
                                     l.job_id, l.user_priority, l.attempt)::taskqueue.stream),
           (select t.number from stop t), v_brokered || coalesce(array_agg(l.job_id) filter (where l.brokered), '{}')
      into v_leased, v_stop, v_brokered
      from leased l join picked p on p.task_queue_id = l.task_queue_id;
  end loop;
  if v_brokered <> '{}' then
    perform workload.change_status(p_setup, v_brokered, 'activated', 'sent', 'matched');
  end if;
  return query
    select s.job_id, s.task_queue_id, d.requirements, s.user_priority::int, s.attempt
      from unnest(v_leased) s
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
     order by s.number;
  for v_task_queue in select s.task_queue_id, s.jobs from unnest(v_leased) s where s.jobs <= 1 or s.seed & 15 = 0 loop
    if v_task_queue.jobs <= 1 then
      perform taskqueue.drop_task_queue_if_empty(p_setup, v_task_queue.task_queue_id);
    else
      perform taskqueue.fold_counts(p_setup, v_task_queue.task_queue_id);
      perform taskqueue.post_pending(p_setup);
    end if;
  end loop;
  if cardinality(v_leased) < p_limit then
    return query
      select m.* from taskqueue.lease_jobs(p_setup, p_resource, p_limit - cardinality(v_leased), p_seed,
                                           array(select s from unnest(v_streams) s
                                                  where s.number <> all (array(select l.number from unnest(v_leased) l))
                                                  order by s.number)) m;
  end if;
  if taskqueue.shall_note_resource(v_known, v_offer.cpu_time, v_leased <> '{}' or found) then
    perform taskqueue.note_resource(p_setup, p_resource, v_known, v_leased <> '{}' or found);
  end if;
end $$;

comment on function taskqueue.lease_batch(text, jsonb, int, bigint) is
  'Leases up to p_limit jobs to a resource, drawn side by side; with a seed, the draws follow from the seed. Errors: '
  'PB001 (description), PB002 (setup not granted).';
