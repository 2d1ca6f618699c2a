-- LEASES.md, Attempts. The token alone identifies the attempt; the number is for people.
create or replace function taskqueue.was_tried_again(p_setup text, p_job_id bigint, p_attempt text) returns boolean
language sql stable as $$
  select exists (
    select from (select j.last_token from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id
                  union all
                 select l.last_token from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) r
     where p_attempt ~ '^[0-9]{1,10}-'
       and substr(p_attempt, strpos(p_attempt, '-') + 1) = replace(r.last_token::text, '-', ''))
$$;

comment on function taskqueue.was_tried_again(text, bigint, text) is
  'Whether this attempt was the last one that failed before a retry rule tried the job again.';
