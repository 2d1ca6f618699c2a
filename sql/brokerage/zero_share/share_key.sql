create or replace function brokerage.share_key(t workload.task) returns text
language sql stable parallel safe as $$
  select brokerage.class_key(jsonb_build_array(
    brokerage.process_group(t.processing_type), t.working_group, t.gshare, t.current_priority,
    coalesce(t.is_merging, false)))
$$;

comment on function brokerage.share_key(workload.task) is
  'The values of a task that policies of sites read, as a key: process group, working group, global share, current '
  'priority, merging.';
