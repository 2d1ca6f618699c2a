-- The function takes the place of check constraints, which other tables of worlds have. PostgreSQL reads the
-- constraints of a table again for each statement, which cost more than all the rest of a status change.
create or replace function workload.refuse_jobs(p_rows jsonb) returns void
language plpgsql as $$
declare
  v_wrong record;
begin
  select resource.row_name('workload.job', e.row, e.place) as name, c.name as key, e.row -> c.name as value, b.words,
         col_description('workload.job'::regclass, c.place) as meaning
    into v_wrong
    from jsonb_array_elements(case jsonb_typeof(p_rows) when 'array' then p_rows else '[]' end)
           with ordinality e (row, place)
    join resource.table_column('workload.job') c on jsonb_typeof(e.row -> c.name) = 'number'
                                                 or c.kind = 'a text' and jsonb_typeof(e.row -> c.name) = 'string'
   cross join lateral (select case
     when c.name = 'status' then case when not e.row ->> 'status' = any (workload.job_statuses())
                                      then 'a status of jobs: ' || array_to_string(workload.job_statuses(), ', ') end
     when c.kind = 'a text' then case when octet_length(e.row ->> c.name) > 300
                                      then 'a text of at most 300 bytes'
                                      when resource.unprintable(e.row ->> c.name)
                                      then 'a text without control and format characters' end
     when c.name = 'job_id' and not (e.row ->> c.name)::numeric between 1 and 999999999999999999
     then '1 or more, and less than 1e18'
     when c.name in ('job_id', 'task_id') then null
     when c.name in ('cores', 'number', 'rebrokered') and (e.row ->> c.name)::numeric < 0 then '0 or more'
     when c.kind = 'an integer of 32 bits' and abs((e.row ->> c.name)::numeric) >= 1e9
     then 'a number between -1e9 and 1e9'
     when abs((e.row ->> c.name)::numeric) >= 1e15 then 'a number between -1e15 and 1e15' end) b (words)
   where b.words is not null
   order by e.place, c.place limit 1;
  if found then
    raise exception '%: % is %, not %', left(v_wrong.name, 200), v_wrong.key, resource.shown(v_wrong.value),
      v_wrong.words
      using errcode = 'PB001', hint = v_wrong.meaning;
  end if;
end $$;

comment on function workload.refuse_jobs(jsonb) is
  'Refuses loaded jobs with a number out of bounds, a text that is too long, or an unknown status. Errors: PB001, '
  'naming the job, the key and the value.';
