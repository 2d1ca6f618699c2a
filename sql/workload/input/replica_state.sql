-- A batch that already counts the files of datasets calls workload.replica_figures itself.
create or replace view workload.replica_state as
select r.setup, r.dataset, r.storage, r.vp, r.lfns, f.total, f.found, f.is_complete
  from workload.replica r
 cross join lateral (
   select case when r.total is null
               then (select count(*) from workload.dataset_file d
                      where d.setup = r.setup and d.dataset = r.dataset) end offset 0) n(files)
 cross join lateral workload.replica_figures(r, n.files) f;

comment on view workload.replica_state is
  'Replicas with the number of files found, the total number, and whether they are complete '
  '(workload.replica_figures).';
comment on column workload.replica_state.lfns is 'Names of the files that are there, if they are listed.';
comment on column workload.replica_state.total is 'Number of files in the dataset.';
comment on column workload.replica_state.found is 'Number of files in the replica.';
comment on column workload.replica_state.is_complete is 'Whether all files of the dataset are in the replica.';
