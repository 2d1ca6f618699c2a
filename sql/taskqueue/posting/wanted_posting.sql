-- DRAWING.md, Posting lists: derives the postings that must exist from the tables task_queue, task_queue_site,
-- task_queue_banned_site and held_owner.
create or replace view taskqueue.wanted_posting as
select q.setup, s.site, q.cpu_time, taskqueue.weight_class_of(q.priority, q.siblings) as weight_class, q.task_queue_id
  from taskqueue.task_queue q
 cross join lateral (
        select '' as site
        union all
        select '*'
         where not exists (select from taskqueue.task_queue_site l
                            where l.setup = q.setup and l.task_queue_id = q.task_queue_id)
        union
        select l.value from taskqueue.task_queue_site l
         where l.setup = q.setup and l.task_queue_id = q.task_queue_id
           and not exists (select from taskqueue.task_queue_banned_site b
                            where b.setup = l.setup and b.task_queue_id = l.task_queue_id and b.value = l.value)) s
 where q.enabled and not q.held
   and not exists (select from taskqueue.held_owner h where h.setup = q.setup and h.owner_dn = q.owner_dn);

comment on view taskqueue.wanted_posting is
  'The postings that the requirement tables ask for; taskqueue.posting holds exactly these (taskqueue.check_matching '
  'compares).';
comment on column taskqueue.wanted_posting.site is
  'A site that the TaskQueue lists and does not ban; * if it lists none; empty for the list of every open TaskQueue.';
comment on column taskqueue.wanted_posting.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.wanted_posting.weight_class is 'Weight class of its priority and its siblings.';
