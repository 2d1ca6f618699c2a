-- Priorities of the queues of workload U: log-uniform between 0.1 and 1000, always the same for the same requirements.
-- They stand in for shares of groups, which taskqueue.maintain would compute; the runner sets them anew after each put-back.
update taskqueue.task_queue q
   set priority = w.priority
  from (select d.setup, d.definition_id, 0.1 * power(10, 4 * taskqueue.draw(hashtextextended(d.digest::text, 0), 1)) as priority
          from taskqueue.definition d where d.setup = 'bench') w
 where q.setup = w.setup and q.definition_id = w.definition_id and q.priority <> w.priority;
update taskqueue.posting p
   set priority = q.priority
  from taskqueue.task_queue q
 where q.setup = 'bench' and p.setup = q.setup and p.task_queue_id = q.task_queue_id and p.priority <> q.priority;
