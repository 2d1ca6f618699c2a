-- RETRIES.md, Judging again. The planner inlines it. A setup that had no rules counted no failures.
create or replace function taskqueue.failure_of(
  p_end taskqueue.history, p_setting taskqueue.setting, p_last_bucket bigint
) returns setof taskqueue.failure
language sql stable rows 1 as $$
  select p_end.error_class, p_end.error, p_end.site, k.owner_group,
         case when k.requirements is not null
              then array(select t from jsonb_array_elements_text(k.requirements -> 'JobTypes') t) end,
         coalesce(p_end.failures, 1)::int, p_setting.most_retries, coalesce(w.has_part, true), w.has_part is not null,
         p_end.host, p_end.ram_used, k.requirements, p_setting.most_ram, p_last_bucket, w.task_id, w.max_attempt
    from (values (p_end.setup, p_end.definition_id, p_end.job_id)) e (setup, definition_id, job_id)
    left join taskqueue.kept_definition k on k.setup = e.setup and k.definition_id = e.definition_id
    left join lateral (select j.number is not null as has_part, j.task_id, t.max_attempt
                         from workload.job j
                         left join workload.task t on t.setup = j.setup and t.task_id = j.task_id
                        where j.setup = e.setup and j.job_id = e.job_id) w on true
$$;

comment on function taskqueue.failure_of(taskqueue.history, taskqueue.setting, bigint) is
  'The facts of a failed end of the history for retry rules: the number of failures that was counted at the end, and '
  'the present settings, last CPU bucket and max_attempt of the task.';
