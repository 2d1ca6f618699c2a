create or replace function workload.note_given_back(p_setup text, p_job_id bigint, p_why text) returns void
language sql as $$
  insert into workload.job_history (setup, at, job_id, from_status, to_status, role_name, why)
  select p_setup, resource.clock(p_setup), j.job_id, j.status, j.status, resource.caller(), p_why
    from workload.job j where j.setup = p_setup and j.job_id = p_job_id
$$;

comment on function workload.note_given_back(text, bigint, text) is
  'Notes in the history of an ended job that its work went back to its task, with the reason. The status stays.';
