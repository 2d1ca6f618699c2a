-- MATCHING.md, Insertion. A repeated request gets the same counts, although its jobs are there by now.
create or replace function taskqueue.insert_counted(p_setup text, p_jobs jsonb, p_request_id uuid default null)
returns table (jobs bigint, waiting bigint, ended bigint)
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_asked bigint := jsonb_hash_extended(p_jobs, 0);
  v_answer jsonb;
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  v_answer := taskqueue.answer_given(p_setup, p_request_id, 'insert_counted', v_asked);
  if v_answer is not null then
    return query select (v_answer ->> 0)::bigint, (v_answer ->> 1)::bigint, (v_answer ->> 2)::bigint;
    return;
  end if;
  select t.waiting, t.ended into waiting, ended from taskqueue.jobs_there(p_setup, p_jobs) t;
  jobs := taskqueue.insert_jobs(p_setup, p_jobs);
  perform taskqueue.keep_answer(p_setup, p_request_id, 'insert_counted', v_asked,
                                jsonb_build_array(jobs, waiting, ended));
  return next;
end $$;

comment on function taskqueue.insert_counted(text, jsonb, uuid) is
  'As taskqueue.insert_jobs; also returns how many of the jobs waited before, and were moved, and how many had ended, '
  'and start again (taskqueue.jobs_there). Errors: PB001, PB002, PB005, PB006.';
