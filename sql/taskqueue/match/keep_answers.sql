-- LEASES.md, Repeated requests: the answers of many requests at once. The lease of a match of one job holds its answer.
create or replace function taskqueue.keep_answers(p_setup text, p_requests jsonb, p_answers taskqueue.answer[])
returns void
language plpgsql as $$
begin
  perform taskqueue.keep_answer(p_setup, (r.request ->> 'request_id')::uuid, 'match_jobs',
                                taskqueue.asked_by(r.request), a.jobs)
     from (select i.request, jsonb_agg(to_jsonb(i) - '{request,error}'::text[]) as jobs
             from unnest(p_answers) i where i.job_id is not null
            group by i.request) a
    cross join lateral (select p_requests -> a.request - 1 as request) r
    where r.request ->> 'request_id' <> '' and taskqueue.leased_under(r.request) is null;
end $$;

comment on function taskqueue.keep_answers(text, jsonb, taskqueue.answer[]) is
  'Keeps the answers of requests with an id for ten minutes.';
