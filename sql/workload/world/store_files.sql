-- The short way of workload.store for files with plain names: reading 100,000 rows of JSON takes two seconds more.
-- Where a row is refused, the long way finds it and names the value.
create or replace function workload.store_files(
  p_setup text, p_datasets text[], p_positions int[], p_lfns text[], p_sizes bigint[], p_nevents bigint[]
) returns void
language plpgsql security definer set search_path = workload, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  if (cardinality(p_datasets) = all (array[cardinality(p_positions), cardinality(p_lfns), cardinality(p_sizes),
                                           cardinality(p_nevents)])) is not true then
    raise exception 'datasets are %, of another length than lfns, % and the other columns',
      resource.shown(to_jsonb(p_datasets)), resource.shown(to_jsonb(p_lfns))
      using errcode = 'PB001', hint = 'Give dataset, position, lfn, size and number of events of each file.';
  end if;
  if array_to_string(p_datasets || p_lfns, '') !~ '[^!-}]'
     and (select count(n) = count(*) and max(length(n)) <= 250 and min(length(n)) > 0
            from unnest(p_datasets || p_lfns) n) then
    begin
      insert into workload.dataset_file as f (setup, dataset, position, lfn, size, nevents)
      select p_setup, u.dataset, u.place, u.lfn, u.size, u.nevents
        from unnest(p_datasets, p_positions, p_lfns, p_sizes, p_nevents) u(dataset, place, lfn, size, nevents)
      on conflict (setup, dataset, position) do update
         set lfn = excluded.lfn, size = excluded.size, nevents = excluded.nevents, start_event = null,
             end_event = null;
      return;
    exception when data_exception or integrity_constraint_violation or cardinality_violation then
      null;
    end;
  end if;
  perform workload.store(p_setup, 'dataset_file', (
    select coalesce(jsonb_agg(jsonb_build_object('dataset', u.dataset, 'position', u.place, 'lfn', u.lfn,
                                                 'size', u.size, 'nevents', u.nevents) order by u.at), '[]')
      from unnest(p_datasets, p_positions, p_lfns, p_sizes, p_nevents)
           with ordinality u(dataset, place, lfn, size, nevents, at)));
end $$;

comment on function workload.store_files(text, text[], int[], text[], bigint[], bigint[]) is
  'Stores files of datasets with all their fields, given as columns of equal length, as workload.store does. Errors: '
  'PB001 (a file is wrong), PB002 (setup not granted).';
