-- The short way of workload.store for files that need no check of their own: reading 100,000 rows of JSON takes two
-- seconds more.
create or replace function workload.store_files(
  p_setup text, p_datasets text[], p_positions int[], p_lfns text[], p_sizes bigint[], p_nevents bigint[]
) returns void
language plpgsql security definer set search_path = workload, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  insert into workload.dataset_file as f (setup, dataset, position, lfn, size, nevents)
  select p_setup, u.dataset, u.place, u.lfn, u.size, u.nevents
    from unnest(p_datasets, p_positions, p_lfns, p_sizes, p_nevents) u(dataset, place, lfn, size, nevents)
  on conflict (setup, dataset, position) do update
     set lfn = excluded.lfn, size = excluded.size, nevents = excluded.nevents, start_event = null, end_event = null;
end $$;

comment on function workload.store_files(text, text[], int[], text[], bigint[], bigint[]) is
  'Stores files of datasets, given as columns of equal length, with all fields of each. A load of worlds calls it for '
  'files whose values it has checked. Errors: PB002 (setup not granted).';
