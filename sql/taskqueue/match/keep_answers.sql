-- LEASES.md, Repeated requests: the answers of many requests at once.
create or replace function taskqueue.keep_answers(p_setup text, p_requests jsonb, p_answers taskqueue.answer[])
returns void
language plpgsql as $$
begin
  perform taskqueue.keep_answer(p_setup, (r.request ->> 'request_id')::uuid, 'match_jobs',
                                taskqueue.asked_by(r.request), a.jobs)
     from jsonb_array_elements(p_requests) with ordinality r (request, n)
     join (select i.request, jsonb_agg(to_jsonb(i) - '{request,error}'::text[]) as jobs
             from unnest(p_answers) i where i.job_id is not null
            group by i.request) a on a.request = r.n
    where r.request ->> 'request_id' <> '';
end $$;

comment on function taskqueue.keep_answers(text, jsonb, taskqueue.answer[]) is
  'Keeps the answers of requests with an id for ten minutes.';
