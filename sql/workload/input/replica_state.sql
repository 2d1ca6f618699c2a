-- Replicas with what the world format leaves out: an empty one is complete, lfns without a number
-- found are as many as are named.
create or replace view workload.replica_state as
select r.setup, r.dataset, r.storage, r.vp, r.lfns, n.total, f.found, f.found = n.total as is_complete
  from workload.replica r
 cross join lateral (
   select coalesce(r.total, (
     select count(*) from workload.dataset_file d where d.setup = r.setup and d.dataset = r.dataset)) offset 0) n(total)
 cross join lateral (select coalesce(r.found, cardinality(r.lfns), n.total)) f(found);

comment on view workload.replica_state is
  'Replicas with the files found and in all, and whether they are complete (found = total).';
comment on column workload.replica_state.lfns is 'Files there, where they are named.';
comment on column workload.replica_state.total is 'Files of the dataset.';
comment on column workload.replica_state.found is 'Files there.';
comment on column workload.replica_state.is_complete is 'Whether all are there.';
