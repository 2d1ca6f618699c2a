-- DRAWING.md, Guarantees of the draw: the TaskQueues of many jobs, drawn side by side, each stream with draws of its
-- own. A stream ends with a TaskQueue, or where its candidates are exhausted in a bucket, or all buckets are. Where few
-- definitions match, the keys of taskqueue.draw_of_few decide at once; nothing there means that nothing matches.
create or replace function taskqueue.draw_together(
  p_setup text, p_known taskqueue.known_offer[], p_streams taskqueue.stream[]
) returns taskqueue.stream[]
language plpgsql as $$
begin
  return (
    with recursive candidate as (
      select s.number, s.request, s.token, s.seed, s.bucket_index, s.tries, s.last_key, s.task_queue_id,
             s.definition_id, 8 as max_tries, k.offer, k.tests, k.policy, k.cpu_buckets, k.matched_at,
             case when (k.offer).sites is null then array['']
                  else (k.offer).sites || '*'::text end as sites
        from unnest(p_streams) s
        join unnest(p_known) with ordinality k on k.ordinality = s.request
       where k.matches is null
      union all
      select c.number, c.request, c.token, c.seed,
             case when o.max_tries is null then c.bucket_index - 1 else c.bucket_index end,
             case when o.max_tries is null then 0 else c.tries + 1 end,
             case when o.max_tries is null then 0 else o.key end,
             case when f.is_accepted then o.task_queue_id end,
             case when f.is_accepted then (o.definition).definition_id end,
             case when o.max_tries is null then 8
                  else greatest(c.max_tries,
                                least(o.max_tries, case when c.matched_at is null then 32 end)) end,
             c.offer, c.tests, c.policy, c.cpu_buckets, c.matched_at, c.sites
        from candidate c
        left join lateral taskqueue.next_candidate(
                    p_setup, c.sites, c.cpu_buckets[c.bucket_index]::bigint, c.last_key, c.policy,
                    c.seed # ((c.bucket_index * 1000000::bigint + c.tries + 1) * 64), c.offer, c.tests) o on true
       cross join lateral (
             select o.task_queue_id is not null
                    and coalesce(o.is_accepted,
                                 taskqueue.accepts(o.definition, c.offer)
                                 and (cardinality(c.sites) <= 2 or o.site = '*'
                                      or o.site = taskqueue.first_site((c.offer).sites, (o.definition).sites,
                                                                       (o.definition).banned_sites))) as is_accepted
             offset 0) f
       where c.task_queue_id is null and c.bucket_index > 0 and c.tries < c.max_tries)
    select array_agg(row(c.number, c.request, c.token, c.seed, c.bucket_index, c.tries, c.last_key,
                         c.task_queue_id, c.definition_id, null)::taskqueue.stream order by c.number)
      from (select s.number, s.request, s.token, s.seed, s.bucket_index, s.tries, s.last_key, f.task_queue_id,
                   f.definition_id
              from unnest(p_streams) s
              join unnest(p_known) with ordinality k on k.ordinality = s.request and k.matches is not null
             cross join lateral taskqueue.draw_of_few(
               p_setup, p_known[s.request], k.cpu_buckets[s.bucket_index]::bigint, s.seed # 8) f
            union all
            select i.number, i.request, i.token, i.seed, i.bucket_index, i.tries, i.last_key, i.task_queue_id,
                   i.definition_id
              from candidate i where i.task_queue_id is not null or i.bucket_index = 0 or i.tries >= i.max_tries) c);
end $$;

comment on function taskqueue.draw_together(text, taskqueue.known_offer[], taskqueue.stream[]) is
  'Draws a TaskQueue for each stream. A stream that finds none keeps where it ended; one for which nothing matches is '
  'left out. p_known: the descriptions, by number of request.';
