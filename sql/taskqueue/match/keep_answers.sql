-- LEASES.md, Repeated requests: the answers of many requests at once. The lease of a match of one job holds its answer.
create or replace function taskqueue.keep_answers(
  p_setup text, p_requests taskqueue.match_request[], p_answers taskqueue.answer[]
) returns void
language plpgsql as $$
begin
  perform taskqueue.keep_answer(p_setup, r.request_id, 'match_jobs', taskqueue.asked_by(r.resources, r.jobs), a.jobs)
     from unnest(p_requests) r
    cross join lateral (
          select jsonb_agg(to_jsonb(i) - '{request,error}'::text[]) as jobs
            from unnest(p_answers) i
           where i.request = r.number and i.job_id is not null) a
    where r.request_id is not null and taskqueue.leased_under(r) is null and a.jobs is not null;
end $$;

comment on function taskqueue.keep_answers(text, taskqueue.match_request[], taskqueue.answer[]) is
  'Keeps the answers of requests with an id for ten minutes.';
