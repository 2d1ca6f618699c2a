-- World format: loads rows into a table of this room. Jobs that are loaded are counted; their nucleus is that of their task.
create or replace function workload.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false) returns bigint
language plpgsql
security definer set search_path = workload, pg_temp
as $$
declare
  v_stored bigint;
begin
  perform resource.identify(p_setup);
  if p_table = 'job' then
    perform workload.refuse_jobs(p_rows);
  end if;
  v_stored := resource.store_rows(p_setup, workload.world_table(p_table), p_rows, p_parents, p_merge);
  if p_table in ('job', 'task') then
    update workload.job j set nucleus = t.nucleus
      from workload.task t
     where j.setup = p_setup and j.number is null and t.setup = j.setup and t.task_id = j.task_id and t.nucleus is distinct from j.nucleus;
    if p_table = 'job' or found then
      perform workload.correct_counts(p_setup);
    end if;
  end if;
  return v_stored;
end $$;

comment on function workload.store(text, text, jsonb, jsonb, boolean) is
'Upserts an array of objects into a table of the room workload and returns how many; keys are columns, one left out gets its default (p_merge: keeps what the row has that is there), null is null. Rows of p_parents (values of the first key column, or objects with it and others; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';
