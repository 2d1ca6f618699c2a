-- LEASES.md, Attempts: the history names the subject that ended an attempt; an id that ended before has older entries.
create or replace function taskqueue.ended_by_subject(p_setup text, p_job_id bigint, p_subject text)
returns setof taskqueue.ended language sql stable as $$
  select e.*
    from taskqueue.ended e
   where e.setup = p_setup and e.job_id = p_job_id
     and exists (select from taskqueue.history h
                  where h.setup = p_setup and h.job_id = p_job_id and h.attempt = e.attempts and h.event = e.outcome
                    and h.subject = p_subject
                    and h.at between e.ended_at - interval '1 minute' and e.ended_at + interval '1 minute')
$$;

comment on function taskqueue.ended_by_subject(text, bigint, text) is
  'The end of a job, if this subject reported it. No row means that the job has not ended, or that another caller '
  'ended it.';
