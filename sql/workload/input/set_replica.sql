-- See STATES.md, From task to TaskQueue. The system that moves data calls this function, so that no world has to be
-- loaded when input arrives.
create or replace function workload.set_replica(
  p_setup text, p_dataset text, p_storage text, p_lfns text[] default null
) returns void
language plpgsql security definer set search_path = workload, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform from resource.setup s where s.setup = p_setup for key share;  -- another session may be removing the setup
  if not exists (select from workload.dataset d where d.setup = p_setup and d.dataset = p_dataset) then
    raise exception 'dataset % does not exist in setup %', coalesce(p_dataset, 'null'), p_setup
      using errcode = 'PB004', hint = 'Load it first: broker load.';
  elsif not exists (select from resource.storage s where s.setup = p_setup and s.storage = p_storage) then
    raise exception 'storage % does not exist in setup %', coalesce(p_storage, 'null'), p_setup
      using errcode = 'PB004', hint = 'Load it first: broker load.';
  end if;
  insert into workload.replica as r (setup, dataset, storage, lfns)
  values (p_setup, p_dataset, p_storage, p_lfns)
  on conflict (setup, dataset, storage) do update
     set found = null, total = null, asize = null, tsize = null, vp = false, lfns = excluded.lfns;
end $$;

comment on function workload.set_replica(text, text, text, text[]) is
  'Records that input has arrived: a storage has all files of a dataset, or the files named. lifecycle.activate then '
  'activates the jobs that waited for them. Errors: PB002 (setup not granted), PB004 (no such dataset or storage).';
