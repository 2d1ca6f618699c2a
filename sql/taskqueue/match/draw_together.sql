-- DRAWING.md, Order of the draw and Guarantees of the draw: TaskQueues for many jobs are drawn side by side, each
-- stream with its own random numbers. CPU buckets are tried from the highest down, and TaskQueues one by one in drawn
-- order (taskqueue.next_candidate), so the cost of a draw does not depend on their number. Skipping a TaskQueue does
-- not change the keys of the others, so the distribution over the rest stays right. If few definitions match, the keys
-- of taskqueue.draw_of_few decide at once; if they give no TaskQueue, nothing matches. A stream whose jobs count at a
-- limit of its site goes alone from here on.
create or replace function taskqueue.draw_together(
  p_setup text, p_parsed taskqueue.parsed_description[], p_streams taskqueue.stream[]
) returns taskqueue.stream[]
language plpgsql as $$
begin
  return (
    -- plan: draws of TaskQueues together
    with recursive candidate as (
      select s as stream, s.bucket_index, s.tries, s.max_tries, s.last_key, s.is_listed, s.goes_alone,
             s.task_queue_id, s.definition_id, k.offer, k.tests, k.policy, k.cpu_buckets, k.matched_at,
             taskqueue.listed_sites(k.offer) as sites
        from unnest(p_streams) s
        join unnest(p_parsed) with ordinality k
          on k.ordinality = case cardinality(p_parsed) when 1 then 1 else s.request end
       where k.matches is null
      union all
      select c.stream,
             case when o.max_tries is null then c.bucket_index - 1 else c.bucket_index end,
             case when o.max_tries is null then 0 else c.tries + 1 end,
             case when o.max_tries is null then 8
                  else greatest(c.max_tries, least(o.max_tries, case when c.matched_at is null then 32 end)) end,
             case when o.max_tries is null then 0 else o.key end,
             c.is_listed or o.max_tries is not null,
             c.goes_alone or f.is_accepted and (o.definition).demands & c.tests & 32 <> 0,
             case when f.is_accepted then o.task_queue_id end,
             case when f.is_accepted then (o.definition).definition_id end,
             c.offer, c.tests, c.policy, c.cpu_buckets, c.matched_at, c.sites
        from candidate c
        left join lateral taskqueue.next_candidate(
                    p_setup, c.sites, c.cpu_buckets[c.bucket_index]::bigint, c.last_key, c.policy,
                    (c.stream).seed # ((c.bucket_index * 1000000::bigint + c.tries + 1) * 64), c.offer, c.tests) o
               on true
       cross join lateral (
             select o.task_queue_id is not null and o.task_queue_id <> all ((c.stream).passed)
                    and coalesce(o.is_accepted,
                                 taskqueue.accepts(o.definition, c.offer)
                                 -- if several sites are offered, a TaskQueue counts in the list of one of them
                                 and (cardinality(c.sites) <= 2 or o.site = '*'
                                      or o.site = taskqueue.site_for(o.definition, c.offer))) as is_accepted
             offset 0) f
       where c.task_queue_id is null and c.bucket_index > 0 and c.tries < c.max_tries)
    select array_agg(taskqueue.new_stream(
             (c.stream).number, (c.stream).request, (c.stream).token, (c.stream).seed, c.bucket_index,
             p_is_seeded => (c.stream).is_seeded, p_goes_alone => c.goes_alone, p_tries => c.tries,
             p_max_tries => c.max_tries, p_last_key => c.last_key, p_is_listed => c.is_listed,
             p_passed => (c.stream).passed, p_task_queue_id => c.task_queue_id, p_definition_id => c.definition_id)
             order by (c.stream).number)
      from (select s as stream, s.bucket_index, s.tries, s.max_tries, s.last_key, s.is_listed,
                   s.goes_alone or coalesce(f.demands, 0) & k.tests & 32 <> 0 as goes_alone, f.task_queue_id,
                   f.definition_id
              from unnest(p_streams) s
              join unnest(p_parsed) with ordinality k
                on k.ordinality = case cardinality(p_parsed) when 1 then 1 else s.request end and k.matches is not null
             cross join lateral taskqueue.draw_of_few(
                    p_setup, p_parsed[k.ordinality], k.cpu_buckets[s.bucket_index]::bigint, s.seed # 8, s.last_key,
                    s.passed) f
            union all
            select i.stream, i.bucket_index, i.tries, i.max_tries, i.last_key, i.is_listed, i.goes_alone,
                   i.task_queue_id, i.definition_id
              from candidate i where i.task_queue_id is not null or i.bucket_index = 0 or i.tries >= i.max_tries) c);
end $$;

comment on function taskqueue.draw_together(text, taskqueue.parsed_description[], taskqueue.stream[]) is
  'Draws a TaskQueue for each stream. A stream without a TaskQueue has exhausted all CPU buckets (bucket_index 0), or '
  'the candidates of one bucket, and taskqueue.draw_on goes on. A stream for which nothing matches is left out. '
  'p_parsed: the descriptions by number of request, or one description for all.';
