create or replace function taskqueue.note_probe(p_probe taskqueue.quarantine, p_streams taskqueue.stream[])
returns void
language sql as $$
  update taskqueue.quarantine q
     set next_probe_at = null, probe_job_id = (s.card).job_id, probe_attempt = (s.card).attempt,
         probed_at = resource.clock(p_probe.setup)
    from unnest(p_streams) s
   where q.setup = p_probe.setup and q.site = p_probe.site and q.name = p_probe.name and q.kind = p_probe.kind
$$;

comment on function taskqueue.note_probe(taskqueue.quarantine, taskqueue.stream[]) is
  'Notes the job that a request got as a probe (taskqueue.claim_probe); without a job, the probe is still due.';
