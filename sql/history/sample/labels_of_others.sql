create or replace function history.labels_of_others(p_labels jsonb) returns jsonb
language sql immutable as $$
  select coalesce(jsonb_object_agg(k.label, 'other'), '{}') from jsonb_object_keys(p_labels) k (label)
$$;

comment on function history.labels_of_others(jsonb) is
  'The labels of the series that sums up all values without a series of their own.';
