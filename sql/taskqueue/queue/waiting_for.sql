-- The schema instance uses this. The planner inlines it, so its tables are joined as if the caller's query named them.
create or replace function taskqueue.waiting_for(p_setup text, p_site text)
returns table (task_queue_id bigint, tags text[], min_ram float8)
language sql stable as $$
  select t.task_queue_id, d.tags, d.min_ram
    from taskqueue.task_queue_site s
   cross join lateral (select o.* from taskqueue.task_queue o
                        where o.setup = s.setup and o.task_queue_id = s.task_queue_id and o.is_open
                       offset 0) t
   cross join lateral (select o.* from taskqueue.definition o
                        where o.setup = t.setup and o.definition_id = t.definition_id and o.sites = array[p_site]
                       offset 0) d
   where s.setup = p_setup and s.value = p_site
$$;

comment on function taskqueue.waiting_for(text, text) is
  'TaskQueues that may be matched and whose jobs may run at this site alone, with the tags and the memory (MB) that '
  'their jobs ask for.';
