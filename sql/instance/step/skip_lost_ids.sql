-- A machine goes by the id of its instance: after a failover that lost the instance, no other may get that id.
create or replace function instance.skip_lost_ids() returns void
language sql as $$
  select resource.skip_lost_ids('instance.instance_id', 1, 1000000000);
  select resource.skip_lost_ids('instance.step_id', 1, 1000000000)
$$;

comment on function instance.skip_lost_ids() is
  'Gives no id of an instance or step again that was lost in a failover; see resource.skip_lost_ids.';
