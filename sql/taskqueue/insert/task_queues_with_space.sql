-- MATCHING.md, TaskQueue size: new jobs go to the newest TaskQueue with space. FOR KEY SHARE: the TaskQueue cannot be
-- deleted before the caller commits. A TaskQueue that another transaction deletes is skipped, so no transaction waits
-- for a deletion. PostgreSQL does wait here if one transaction has first changed the row without its key and then
-- deletes it, since it follows the versions of the row without SKIP LOCKED. So no transaction may do both.
create or replace function taskqueue.task_queues_with_space(p_setup text, p_definition_ids bigint[], p_size bigint)
returns table (definition_id bigint, task_queue_id bigint, space bigint)
language sql as $$
  select d.definition_id, n.task_queue_id, n.space
    from unnest(p_definition_ids) d (definition_id)
   cross join lateral (
          select q.task_queue_id, p_size - c.jobs as space
            from taskqueue.task_queue q
           cross join lateral (select coalesce(sum(l.jobs), 0)::bigint as jobs
                                 from taskqueue.job_level(q.setup, q.task_queue_id) l) c
           where q.setup = p_setup and q.definition_id = d.definition_id and c.jobs < p_size
           order by q.task_queue_id desc
           limit 1
             for key share of q skip locked) n
$$;

comment on function taskqueue.task_queues_with_space(text, bigint[], bigint) is
  'The newest TaskQueue with fewer jobs than p_size of each definition, locked against deletion, and how many more '
  'jobs it takes. A definition without such a TaskQueue has no row.';
