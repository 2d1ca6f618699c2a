-- Even a task without requirements has a need: a queue may accept only tasks that ask for its hardware (excl).
create or replace function brokerage.software_key(t workload.task) returns text
language sql stable parallel safe as $$
  select brokerage.class_key(jsonb_build_array(
    t.architecture, nullif(t.trans_home, ''), nullif(t.trans_uses, ''), nullif(t.container_name, ''),
    coalesce(t.only_tags_for_fc, false), coalesce(t.label in ('user', 'panda'), false)))
$$;

comment on function brokerage.software_key(workload.task) is
  'The needs of a task for software and hardware, as a key: architecture, transHome, transUses, container, '
  'onlyTagsForFC, and whether it is analysis (label user or panda).';
