create or replace function taskqueue.why_held(p_job taskqueue.job) returns text
language sql stable as $$
  select case when (p_job).not_before is not null
              then 'a retry rule holds the job until '
                   || to_char((p_job).not_before at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"')
                   || coalesce(', and then changes ' || c.text, '')
              else 'an operator holds the job' || coalesce(', and a resumption changes ' || c.text, '') end
    from (select) one
    left join lateral (
           select taskqueue.shown_change(d.requirements, taskqueue.requirements_after(d.requirements, p)) as text
             from taskqueue.pending_change p
             join taskqueue.task_queue q on q.setup = p.setup and q.task_queue_id = (p_job).task_queue_id
             join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
            where p.setup = (p_job).setup and p.job_id = (p_job).job_id and p.entry_id = (p_job).entry_id) c on true
   where (p_job).held
$$;

comment on function taskqueue.why_held(taskqueue.job) is
  'The holder of a waiting job (an operator or a retry rule), the end of the hold, and the change that a retry rule '
  'makes then, in words; null if the job is not held.';
