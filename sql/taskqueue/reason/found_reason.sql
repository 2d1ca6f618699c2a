create or replace view taskqueue.found_reason as
select q.setup, q.task_queue_id, q.definition_id, q.owner_group, q.owner_dn, q.cpu_time, q.is_open, r as kept,
       c as kind, t.now - s.resource_time as seen_since,
       case when c.definition_id <> r.definition_id then c.matched_at else c.other_matched_at end as overtaken_at
  from taskqueue.task_queue q
  join taskqueue.setting s on s.setup = q.setup
  join resource.setup_time t on t.setup = q.setup
  left join taskqueue.waiting_reason r on r.setup = q.setup and r.definition_id = q.definition_id
  left join taskqueue.resource_class c on c.setup = r.setup and c.class = r.class;

comment on view taskqueue.found_reason is
  'TaskQueues with the reasons that taskqueue.find_reasons found for their requirements.';
comment on column taskqueue.found_reason.kept is 'Reason of the requirements; null if none was looked for yet.';
comment on column taskqueue.found_reason.kind is 'Kind of resource that the reason names; null if there is none.';
comment on column taskqueue.found_reason.seen_since is 'Time since when a resource must have asked to count as seen.';
comment on column taskqueue.found_reason.overtaken_at is
  'When the kind of resource last got a job of other requirements, from a sample; null if this is not known.';
