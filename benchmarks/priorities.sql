-- Priorities of the queues of workloads U and N: log-uniform between 0.1 and 1000, always the same for the same requirements.
-- They stand in for shares of groups, which would be computed ten seconds after a queue opens: these workloads put that off (share_delay).
-- A queue that a run emptied and that came back with its jobs gets its priority anew.
do $$
begin
  update taskqueue.task_queue q
     set priority = w.priority
    from (select d.setup, d.definition_id, 0.1 * power(10, 4 * taskqueue.draw(hashtextextended(d.digest::text, 0), 1)) as priority
            from taskqueue.definition d where d.setup = 'bench') w
   where q.setup = w.setup and q.definition_id = w.definition_id and q.priority <> w.priority;
  if found then
    perform taskqueue.rebuild_matching('bench');
  end if;
end $$;
