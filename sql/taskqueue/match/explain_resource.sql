-- MATCHING.md, Explanations: the waiting jobs as a resource sees them. Requirements whose failing conditions are the
-- same form one row. An open TaskQueue matches exactly when no condition fails.
create or replace function taskqueue.explain_resource(p_setup text, p_resource jsonb)
returns table (jobs bigint, task_queues bigint, failing text[], example bigint, wanted text, offered text)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
declare
  v_identity resource.identity := resource.identify_viewer(p_setup);
  v_offer taskqueue.offer;
  v_quarantine text;
begin
  v_identity.private := false;  -- the description alone defines the resource, not the identity of the caller
  v_offer := taskqueue.offer_of(p_setup, p_resource, v_identity);
  v_offer.job_id := null;
  select string_agg(taskqueue.shown_quarantine(q), '; ') into v_quarantine
    from taskqueue.quarantine_of(p_setup, v_offer, taskqueue.host_of(p_resource -> 'HostName')) q;
  return query
    with waiting as materialized (
      select q.definition_id, q.is_open, sum(n.jobs)::bigint as jobs, count(*) as task_queues,
             min(q.task_queue_id) as example
        from taskqueue.task_queue q
        join taskqueue.task_queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
       where q.setup = p_setup and n.jobs > 0
       group by q.definition_id, q.is_open
    ), kind as materialized (
      select w.jobs, w.task_queues, w.example, c.failing, c.wanted, c.offered
        from waiting w
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id
       cross join lateral (
         select coalesce(array_agg(c.condition order by c.condition), '{}') as failing,
                string_agg(concat_ws(' ', c.condition, c.wanted), '; ' order by c.condition) as wanted,
                string_agg(concat_ws(' ', c.condition, c.offered), '; ' order by c.condition) as offered
           from (select e.condition, e.wanted, e.offered from taskqueue.condition(d, v_offer) e where not e.holds
                 union all
                 select 'TaskQueue', 'enabled, neither it nor its owner held', 'it is not' where not w.is_open
                 union all
                 select 'Quarantine', 'none', v_quarantine where v_quarantine is not null) c) c
    )
    select sum(k.jobs)::bigint, sum(k.task_queues)::bigint, k.failing,
           (array_agg(k.example order by k.jobs desc, k.example))[1],
           (array_agg(k.wanted order by k.jobs desc, k.example))[1],
           (array_agg(k.offered order by k.jobs desc, k.example))[1]
      from kind k
     group by k.failing
     order by 1 desc, 3;
end $$;

comment on function taskqueue.explain_resource(text, jsonb) is
  'Waiting jobs that are not held, and their TaskQueues, by the conditions that the resource fails (condition names; '
  'empty if it matches), most jobs first. example is a TaskQueue of the requirements with the most jobs of the row; '
  'wanted and offered show its failing conditions in words. Jobs that avoid the host of the resource (explain_match: '
  'Avoid) count as if they did not. A JobID in the description is ignored. Errors: PB001 (description), PB002 (setup '
  'not granted).';
