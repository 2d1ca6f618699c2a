-- Null means that a count is not known, and 0 is a count. A replica without any figure is complete (worlds.md, Datasets
-- and tasks); one with lfns but without found has the files that are named. The function returns a set of one row,
-- since the planner inlines only functions that return sets.
create or replace function workload.replica_figures(p_replica workload.replica, p_files bigint)
returns table (total bigint, found bigint, is_complete boolean)
language sql immutable rows 1 as $$
  select n.total, f.found, n.is_plain or n.total > 0 and f.found = n.total
    from (select coalesce((p_replica).total, p_files),
                 num_nonnulls((p_replica).found, (p_replica).total) = 0 and (p_replica).lfns is null) n(total, is_plain)
   cross join lateral (select coalesce((p_replica).found, cardinality((p_replica).lfns),
                                       case when n.is_plain then n.total else 0 end)) f(found)
$$;

comment on function workload.replica_figures(workload.replica, bigint) is
  'File counts of a replica in one row: the total, the number found, and whether all are found. A total that is null '
  'or 0 is never complete, and a number found that is null beside a total is 0. p_files is the number of files of the '
  'dataset, which is read only if the replica has no total.';
