-- Ids from 10^12 on belong to the jobs that brokerage makes (workload.make_jobs).
create or replace function taskqueue.submitted_id(p_value jsonb) returns bigint
language plpgsql immutable as $$
declare
  v_id bigint := taskqueue.job_id(p_value);
begin
  if v_id >= 1000000000000 then
    raise exception 'job_id is %: ids from 1000000000000 on are reserved for jobs of brokerage', v_id
      using errcode = 'PB001', hint = 'Give an id within 1..999999999999.';
  end if;
  return v_id;
end $$;

comment on function taskqueue.submitted_id(jsonb) is
  'The id that a submitter gives a job, from JSON, checked. Errors: PB001.';
