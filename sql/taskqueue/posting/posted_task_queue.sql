-- The postings with the key of their list, to compare with taskqueue.wanted_posting.
create or replace view taskqueue.posted_task_queue as
select l.setup, l.site, l.cpu_time, p.weight_class, p.task_queue_id, l.list_id, p.position
  from taskqueue.posting_list l
  join taskqueue.posting p on p.setup = l.setup and p.list_id = l.list_id;

comment on view taskqueue.posted_task_queue is 'The open TaskQueues that a site may see, by CPU bucket.';
comment on column taskqueue.posted_task_queue.setup is 'Tenant.';
comment on column taskqueue.posted_task_queue.site is
  'A site that the TaskQueue lists and does not ban; * = it lists none; empty = every open TaskQueue.';
comment on column taskqueue.posted_task_queue.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.posted_task_queue.weight_class is 'Weight class of its priority.';
comment on column taskqueue.posted_task_queue.task_queue_id is 'TaskQueue.';
comment on column taskqueue.posted_task_queue.list_id is 'List.';
comment on column taskqueue.posted_task_queue.position is 'Position in the weight class of the list.';
