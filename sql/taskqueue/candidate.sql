-- Section 5, steps 1 and 2 for one bucket: the matching open queues in the order of their draws. Keys are drawn over the postings of the
-- offered sites alone, sorted, and the conditions tested in that order until a queue gives a job: filtering a drawn order is drawing over the filtered.
-- Rejected: conditions before the sort (1.7 us a queue instead of 0.2).
create or replace function taskqueue.candidate(p_setup text, p_offer taskqueue.offer, p_cpu_time bigint, p_seed bigint, p_policy text)
returns table (task_queue_id bigint, definition taskqueue.definition)
language sql stable
as $$
  select p.task_queue_id, d
    from (select o.task_queue_id, o.definition_id,
                 taskqueue.draw_key(taskqueue.draw(o.task_queue_id, p_seed), 1, o.priority, p_policy) as key
            from taskqueue.posting o
           where o.setup = p_setup and o.cpu_time = p_cpu_time
             and o.site = any (case when (p_offer).sites is null then array[''] else (p_offer).sites || '*'::text end)
           order by key offset 0) p
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
   where taskqueue.accepts(d, p_offer)
   order by p.key
$$;

comment on function taskqueue.candidate(text, taskqueue.offer, bigint, bigint, text) is
'The open queues of a CPU bucket that match an offer, in drawn order; a queue may come twice where several sites are offered.';
