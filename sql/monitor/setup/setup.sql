-- Setups are the tenants of this database.
create or replace view monitor.setup as
select s.setup, s.created_at, s.simulated,
       (select count(*) from taskqueue.task_queue q where q.setup = s.setup) as task_queues,
       (select count(*) from resource.identity i where i.setup = s.setup) as identities,
       coalesce(t.shares, 'groups') as shares
  from resource.setup s
  left join taskqueue.setting t on t.setup = s.setup
 where (s.setup = (select resource.bound_setup())) is not false;

comment on view monitor.setup is 'Setups, with the size of each. taskqueue.remove_setup removes one.';
comment on column monitor.setup.task_queues is 'Number of TaskQueues.';
comment on column monitor.setup.identities is 'Number of database roles that may use the setup besides operators.';
comment on column monitor.setup.shares is
  'Shares that dispatch follows: groups = shares of owner groups, DIRAC''s rule; global = the tree of global shares '
  '(monitor.share_tree).';
