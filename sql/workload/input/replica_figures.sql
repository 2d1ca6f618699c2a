-- The function fills in the values that a world may leave out of a replica: a replica without any value is complete,
-- and one with lfns but without found has the files that are named. It returns a set of one row, since the planner
-- inlines only functions that return sets.
create or replace function workload.replica_figures(p_replica workload.replica, p_files bigint)
returns table (total bigint, found bigint, is_complete boolean)
language sql immutable rows 1 as $$
  select n.total, f.found, f.found = n.total
    from (select coalesce((p_replica).total, p_files)) n(total)
   cross join lateral (select coalesce((p_replica).found, cardinality((p_replica).lfns), n.total)) f(found)
$$;

comment on function workload.replica_figures(workload.replica, bigint) is
  'File counts of a replica in one row: the total, the number found, and whether all are found. p_files is the number '
  'of files of the dataset, which is read only if the replica has no total.';
