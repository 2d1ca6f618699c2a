-- What the world format leaves out of a replica: an empty one is complete, lfns without a number found are as many as
-- are named. A set of one row, since the planner only takes functions that return sets into a query.
create or replace function workload.replica_figures(p_replica workload.replica, p_files bigint)
returns table (total bigint, found bigint, is_complete boolean)
language sql immutable rows 1 as $$
  select n.total, f.found, f.found = n.total
    from (select coalesce((p_replica).total, p_files)) n(total)
   cross join lateral (select coalesce((p_replica).found, cardinality((p_replica).lfns), n.total)) f(found)
$$;

comment on function workload.replica_figures(workload.replica, bigint) is
  'Files of a replica: in all, found, and whether all are found; one row. p_files: how many the dataset has, read only '
  'if the replica has no total.';
