-- MATCHING.md, Refused requirements: a user priority is an integer from 0 to 10.
create or replace function taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) returns int
language plpgsql immutable as $$
begin
  if p_user_priority between 0 and 10 and p_user_priority = trunc(p_user_priority) then
    return p_user_priority;
  end if;
  raise exception 'user_priority of job % is %, which is not an integer within 0..10', p_job_id,
    coalesce(resource.shown(to_jsonb(p_user_priority)), 'null')
    using errcode = 'PB001', hint = 'A priority within 1..10 is a weight; 0 means background.';
end $$;

comment on function taskqueue.job_priority(bigint, numeric) is 'The user priority of a job, checked. Errors: PB001.';
