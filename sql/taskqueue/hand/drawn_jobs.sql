-- DRAWING.md, Jobs of a TaskQueue: the next jobs of a TaskQueue, each drawn from the jobs that the earlier draws left.
-- First the user priorities are drawn from the counts, by one draw for each (order statistics). Then each job
-- is drawn from the first ten of its user priority by id. With a seed, the first jobs are the same for any number of
-- jobs.
create or replace function taskqueue.drawn_jobs(
  p_setup text, p_task_queue_id bigint, p_jobs bigint[], p_first_ids bigint[], p_without bigint[], p_number int,
  p_ten_first boolean, p_policy text, p_seed bigint,
  out job_ids bigint[], out entry_ids bigint[], out user_priorities smallint[], out addresses tid[]
)
language plpgsql stable as $$
declare
  v_pool record;
  v_place int;
  v_pick int;
  v_first int[];  -- numbers of the first ten remaining jobs of a user priority
  v_next int;  -- number of the job after v_first
  v_last int;  -- number of jobs that are left
  v_only int := array_position(p_jobs, (select sum(j) from unnest(p_jobs) j where j > 0));
begin
  job_ids := '{}'::bigint[];
  entry_ids := '{}'::bigint[];
  addresses := '{}'::tid[];
  if v_only is not null then
    user_priorities := array_fill((v_only - 1)::smallint, array[least(p_number, p_jobs[v_only])::int]);
  else
    -- plan: user priorities of a hand
    with recursive draw as (
      select 0 as number, p_jobs as jobs, null::smallint as user_priority, hashint8extended(0, p_seed) as seed
      union all
      select d.number + 1, d.jobs[:o.place - 1] || d.jobs[o.place] - 1 || d.jobs[o.place + 1:],
             (o.place - 1)::smallint, hashint8extended(d.number + 1, p_seed)
        from draw d
       cross join lateral (
              select n.place
                from (select i.place::int as place, i.jobs::float8 as count, greatest(i.place - 1, 1)::float8 as weight,
                             resource.draw(i.place, d.seed) as draw
                        from unnest(d.jobs) with ordinality i (jobs, place)
                       -- a fence, since otherwise taskqueue.draw_key is not inlined
                       where i.jobs > 0 offset 0) n
               order by case when n.place = 1 then 2 when n.place = 11 and p_ten_first then 0 else 1 end,
                        taskqueue.draw_key(n.draw, n.count, n.weight, p_policy)
               limit 1) o
       where d.number < p_number)
    select coalesce(array_agg(d.user_priority order by d.number), '{}') into user_priorities
      from draw d where d.number > 0;
  end if;
  -- plan: the first jobs of a user priority
  for v_pool in
    select l.user_priority, j.job_ids, j.entry_ids, j.addresses
      from (select u as user_priority, count(*) as number from unnest(user_priorities) u group by u) l
     cross join lateral (
            select array_agg(i.job_id) as job_ids, array_agg(i.entry_id) as entry_ids, array_agg(i.ctid) as addresses
              from (select j.job_id, j.entry_id, j.ctid from taskqueue.job j
                     where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held
                       and j.user_priority = l.user_priority
                       and j.job_id >= coalesce(p_first_ids[l.user_priority + 1], 0)
                       and j.entry_id <> all (p_without)
                     order by j.job_id limit 9 + l.number) i) j
  loop
    v_first := array[1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    v_last := cardinality(v_pool.job_ids);
    v_next := 11;
    foreach v_place in array array_positions(user_priorities, v_pool.user_priority) loop
      v_pick := 1 + floor(resource.draw(12, hashint8extended(v_place - 1, p_seed)) * least(v_last, 10));
      job_ids[v_place] := v_pool.job_ids[v_first[v_pick]];
      entry_ids[v_place] := v_pool.entry_ids[v_first[v_pick]];
      addresses[v_place] := v_pool.addresses[v_first[v_pick]];
      -- the next job takes the place of the one that was picked: the order of the ten does not matter
      v_first[v_pick] := case when v_last > 10 then v_next else v_first[v_last] end;
      v_next := v_next + 1;
      v_last := v_last - 1;
    end loop;
  end loop;
end $$;

comment on function taskqueue.drawn_jobs(
  text, bigint, bigint[], bigint[], bigint[], int, boolean, text, bigint) is
  'Up to p_number jobs of a TaskQueue in drawn order. p_jobs: the number of its jobs by user priority, except for '
  'those of p_without (entries that take no part). p_first_ids: ids below which there are no jobs.';
