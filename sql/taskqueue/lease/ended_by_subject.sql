-- LEASES.md, Attempts: the history names the subject that ended an attempt; an id that ended before has older entries.
-- After a retry by a rule, the job and its next lease keep the token of the newest failed event. The number of this
-- attempt may be lower than older numbers, since a forgotten id begins at 1 again.
create or replace function taskqueue.ended_by_subject(p_setup text, p_job_id bigint, p_subject text)
returns table (attempts int, token uuid, outcome text)
language sql stable as $$
  select e.attempts, e.token, e.outcome
    from taskqueue.ended e
   where e.setup = p_setup and e.job_id = p_job_id
     and exists (select from taskqueue.history h
                  where h.setup = p_setup and h.job_id = p_job_id and h.attempt = e.attempts and h.event = e.outcome
                    and h.subject = p_subject
                    and h.at between e.ended_at - interval '1 minute' and e.ended_at + interval '1 minute')
   union all
  select h.attempt, r.last_token, 'failed'
    from (select j.last_token from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id
           union all
          select l.last_token from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) r
   cross join lateral (select h.attempt, h.subject from taskqueue.history h
                        where h.setup = p_setup and h.job_id = p_job_id and h.event = 'failed'
                        order by h.at desc, h.attempt desc limit 1) h
   where r.last_token is not null and h.subject = p_subject
$$;

comment on function taskqueue.ended_by_subject(text, bigint, text) is
  'The end of a job, if this subject reported the end: the last end, or the failed end after which a retry rule tried '
  'the job again. No row means that there is no end, or that another caller reported it.';
