-- RETRIES.md, Judging again. If an end has a number of failures, the rules judged it, so its job was not marked for
-- kill.
create or replace function taskqueue.was_killed(p_end taskqueue.history) returns boolean
language sql stable as $$
  select p_end.failures is null
         and exists (select from taskqueue.history k
                      where k.setup = p_end.setup and k.job_id = p_end.job_id and k.attempt = p_end.attempt
                        and k.event = 'kill asked' and k.at <= p_end.at)
$$;

comment on function taskqueue.was_killed(taskqueue.history) is
  'Whether the job of a failed end of the history was marked for kill before the end, so that no retry rule applied.';
