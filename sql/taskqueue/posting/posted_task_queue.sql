-- The postings with the key of their list, to compare with taskqueue.wanted_posting.
create or replace view taskqueue.posted_task_queue as
select l.setup, l.site, l.cpu_time, p.weight_class, p.task_queue_id, l.list_id, p.position
  from taskqueue.posting_list l
  join taskqueue.posting p on p.setup = l.setup and p.list_id = l.list_id;

comment on view taskqueue.posted_task_queue is 'The open TaskQueues that a site may see, by CPU bucket.';
