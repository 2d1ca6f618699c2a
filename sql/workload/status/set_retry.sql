create or replace function workload.set_retry(p_setup text, p_job_ids bigint[], p_at timestamptz[]) returns void
language sql as $$
  update workload.job j set retry_at = n.at
    from unnest(p_job_ids, p_at) n (job_id, at)
   where j.setup = p_setup and j.job_id = n.job_id and j.retry_at is distinct from n.at
$$;

comment on function workload.set_retry(text, bigint[], timestamptz[]) is
  'Sets the time when a retry rule gives the part of each job back to its task; null means that no rule does.';
