-- RETRIES.md, Another host.
create or replace function taskqueue.shown_avoid(p_job taskqueue.job) returns text
language sql stable as $$
  select case when p_job.avoid_until > resource.clock(p_job.setup)
              then p_job.avoid
                   || to_char(p_job.avoid_until at time zone 'utc', '" until" YYYY-MM-DD HH24:MI:SS "UTC"') end
$$;

comment on function taskqueue.shown_avoid(taskqueue.job) is
  'The host that a waiting job avoids now, with its site and the end of this time; null if there is none.';
