-- All setups share the partitions of a history.
create or replace function taskqueue.history_kept() returns interval
language sql stable as $$
  select coalesce(max(coalesce(t.history_kept, interval '30 days')), interval '30 days')
    from resource.setup s
    left join taskqueue.setting t on t.setup = s.setup
$$;

comment on function taskqueue.history_kept() is
  'The time for which the histories of TaskQueues and of brokered jobs are kept: the longest history_kept of all '
  'setups.';
