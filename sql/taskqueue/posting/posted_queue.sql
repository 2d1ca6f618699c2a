-- The postings with the key of their list, to compare with taskqueue.wanted_posting.
create or replace view taskqueue.posted_queue as
select l.setup, l.site, l.cpu_time, p.band, p.task_queue_id, l.list_id, p.place
  from taskqueue.posting_list l
  join taskqueue.posting p on p.setup = l.setup and p.list_id = l.list_id;

comment on view taskqueue.posted_queue is 'Which open queues a site may see, by CPU bucket.';
comment on column taskqueue.posted_queue.setup is 'Tenant.';
comment on column taskqueue.posted_queue.site is
  'A site listed and not banned; * = the queue lists none; empty = every open queue.';
comment on column taskqueue.posted_queue.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.posted_queue.band is 'Band of its priority.';
comment on column taskqueue.posted_queue.task_queue_id is 'TaskQueue.';
comment on column taskqueue.posted_queue.list_id is 'List.';
comment on column taskqueue.posted_queue.place is 'Place in the list.';
