-- See LEASES.md, Payloads. The body is stored once per task; the keys that differ from job to job are added when it is
-- read.
create or replace function workload.payload_of_task(p_setup text, p_job_id bigint) returns jsonb
language plpgsql stable as $$
declare
  v_job record;
begin
  select j.task_id, j.number, j.events, p.body, w.first_event,
         case when e.nfiles is not null then (w.first_file - 1) * e.nevents + w.first_event + 1 end as first_in_task
    into v_job
    from workload.job j
    join workload.task_payload p on p.setup = j.setup and p.task_id = j.task_id
    left join lateral workload.part_of_task(p_setup, j.task_id, j.number) w on w.events is not null
    left join lateral workload.equal_files(p_setup, j.task_id) e on w.number is not null
   where j.setup = p_setup and j.job_id = p_job_id;
  if not found or jsonb_typeof(v_job.body) <> 'object' then
    return v_job.body;
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
           'taskID', v_job.task_id, 'nEvents', v_job.events,
           'skipEvents', case when v_job.first_in_task is null then v_job.first_event end,
           'firstEvent', v_job.first_in_task,
           'inFiles', case when not v_job.body ? 'inFiles'
                           then array_to_string(workload.files_of_part(p_setup, v_job.task_id, v_job.number), ',')
                      end)) || v_job.body;
end $$;

comment on function workload.payload_of_task(text, bigint) is
  'The payload that a job gets from its task; null = the task has none, or the job has no task. If the payload is an '
  'object, the job''s share of the input is added under PanDA''s names, unless the payload has the key: taskID, '
  'nEvents, inFiles (logical file names, separated by commas); of a job that is cut by events also skipEvents (events '
  'of the first file that an earlier job has) or, without files, firstEvent (number of its first event in the task, '
  'from 1).';
