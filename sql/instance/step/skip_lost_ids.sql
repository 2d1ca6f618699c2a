-- The id of an instance identifies its machine. After a failover that lost the row, no other instance may get the id.
create or replace function instance.skip_lost_ids() returns void
language sql as $$
  select resource.skip_lost_ids('instance.instance_id', 1, 1000000000);
  select resource.skip_lost_ids('instance.step_id', 1, 1000000000)
$$;

comment on function instance.skip_lost_ids() is
  'Makes sure that the ids of instances and steps that were lost in a failover are not used again; see '
  'resource.skip_lost_ids.';
