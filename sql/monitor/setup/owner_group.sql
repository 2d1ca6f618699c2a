create or replace view monitor.owner_group as
select g.setup, g.owner_group, g.share, g.job_sharing, g.allow_background
  from taskqueue.owner_group g
 where (g.setup = (select resource.bound_setup())) is not false;

comment on view monitor.owner_group is
  'Owner groups whose share or properties were set (taskqueue.set_group). Any other group has the share 1000, without '
  'JobSharing and background.';
