create or replace function workload.forget_payloads(p_setup text, p_job_ids bigint[]) returns void
language sql as $$
  delete from workload.payload p where p.setup = p_setup and p.job_id = any (p_job_ids)
$$;

comment on function workload.forget_payloads(text, bigint[]) is 'Deletes the payloads of jobs.';
