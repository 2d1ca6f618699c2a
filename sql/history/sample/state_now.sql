-- The views of monitor define each figure, so that a page, a metric and the history show the same number. Long because
-- it is one list.
create or replace view history.state_now as
select w.setup, 'jobs_waiting' as figure,
       jsonb_build_object('owner_group', w.owner_group, 'reason', w.reason) as labels, sum(w.jobs)::float8 as value
  from monitor.waiting_by_reason w
 group by w.setup, w.owner_group, w.reason
 union all
select w.setup, 'task_queues', jsonb_build_object('owner_group', w.owner_group, 'reason', w.reason),
       sum(w.task_queues)
  from monitor.waiting_by_reason w
 group by w.setup, w.owner_group, w.reason
 union all
select w.setup, 'jobs_waiting_at_site', jsonb_build_object('site', w.site, 'reason', w.reason), w.jobs
  from monitor.waiting_at_site w
 union all
select w.setup, 'oldest_wait', jsonb_build_object('owner_group', w.owner_group),
       max(extract(epoch from w.waits + w.age))
  from monitor.waiting_by_reason w
 group by w.setup, w.owner_group
 union all
select g.setup, 'leases', jsonb_build_object('owner_group', g.owner_group, 'state', s.state), s.leases
  from monitor.group_share g
 cross join lateral (values ('matched', g.matched), ('running', g.running)) s (state, leases)
 union all
select g.setup, f.figure, jsonb_build_object('owner_group', g.owner_group), f.value
  from monitor.group_share g
 cross join lateral (values ('group_target', g.target), ('group_use', g.use)) f (figure, value)
 union all
select l.setup, 'leases_at_site', jsonb_build_object('site', coalesce(l.site, 'none'), 'state', l.state), l.leases
  from monitor.lease_by_site l
 union all
select l.setup, 'expired_leases', jsonb_build_object('site', coalesce(l.site, 'none')), sum(l.expired)
  from monitor.lease_by_site l
 group by l.setup, l.site
 union all
select q.setup, 'quarantines', jsonb_build_object('site', coalesce(nullif(q.site, ''), 'none'), 'state', q.state),
       count(*)
  from monitor.quarantine q
 group by q.setup, q.site, q.state
 union all
select l.setup, f.figure, jsonb_build_object('site', l.site), f.value
  from monitor.limit_by_site l
 cross join lateral (values ('limits', l.limits), ('limits_reached', l.reached), ('limit_slots', l.slots),
                            ('limit_slots_used', l.used)) f (figure, value)
 union all
select s.setup, f.figure, jsonb_build_object('gshare', s.gshare), f.value
  from monitor.share_tree s
 cross join lateral (values ('share_target', s.target_of_whole), ('share_use', s.usage_of_whole),
                            ('share_running', s.running), ('share_queued', s.queued)) f (figure, value)
 where s.is_leaf
 union all
select q.setup, 'brokered_jobs', jsonb_build_object('queue', q.queue, 'stage', s.stage), s.jobs
  from monitor.queue q
 cross join lateral (values ('waiting', q.waiting), ('running', q.running)) s (stage, jobs)
 union all
select r.setup, 'rejections', jsonb_build_object('algorithm', r.algorithm, 'rule', r.rule), sum(r.pairs)
  from monitor.last_run_rejection r
 group by r.setup, r.algorithm, r.rule
 union all
select i.setup, 'instances', jsonb_build_object('type', i.type, 'state', i.state), count(*)
  from monitor.instance i
 where i.state <> 'released'
 group by i.setup, i.type, i.state
 union all
select i.setup, f.figure, jsonb_build_object('type', i.type), f.value
  from (select n.setup, n.type, sum(n.cpu) as cores, sum(n.used_cpu) as used, sum(n.price) as price,
               sum(n.cost) as cost
          from monitor.instance n
         where n.state <> 'released'
         group by n.setup, n.type) i
 cross join lateral (values ('instance_cores', i.cores), ('instance_cores_used', i.used),
                            ('instance_price', i.price), ('instance_cost', i.cost)) f (figure, value);

comment on view history.state_now is
  'The current figures of a setup. history.events_between has the figures that count events of a minute. Restrict the '
  'setup.';
comment on column history.state_now.setup is 'The setup.';
comment on column history.state_now.figure is 'Name of the figure (history.figure).';
comment on column history.state_now.labels is 'Labels with their values.';
comment on column history.state_now.value is 'The value.';
