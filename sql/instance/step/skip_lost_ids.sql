-- The id of an instance identifies its machine: after a failover that lost the instance, no other instance may get that
-- id.
create or replace function instance.skip_lost_ids() returns void
language sql as $$
  select resource.skip_lost_ids('instance.instance_id', 1, 1000000000);
  select resource.skip_lost_ids('instance.step_id', 1, 1000000000)
$$;

comment on function instance.skip_lost_ids() is
  'Makes sure that an id of an instance or step that was lost in a failover is not given again; see '
  'resource.skip_lost_ids.';
