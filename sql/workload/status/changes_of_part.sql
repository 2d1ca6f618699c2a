-- RETRIES.md, Jobs of tasks. Parts with the same text are brokered together. The planner inlines it.
create or replace function workload.changes_of_part(p_part workload.failed_part) returns text
language sql immutable as $$
  select nullif(concat_ws(', ', 'memory x ' || nullif(trim_scale(p_part.memory_factor), 1),
                          'time x ' || nullif(trim_scale(p_part.time_factor), 1),
                          'not at ' || (select string_agg(q, ', ' order by q collate "C")
                                           from unnest(p_part.failed_queues) q)), '')
$$;

comment on function workload.changes_of_part(workload.failed_part) is
  'Changes that retry rules made for the jobs of a part of the input, in words: "memory x 2.25, not at QA"; null if '
  'there are none.';
