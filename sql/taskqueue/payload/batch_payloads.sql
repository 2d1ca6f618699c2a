-- The payloads of a checked batch, for taskqueue.insert_jobs; measured before anything is stored.
create or replace function taskqueue.batch_payloads(
  p_setup text, p_jobs jsonb, out job_ids bigint[], out payloads jsonb[]
)
language plpgsql stable as $$
begin
  select array_agg((n.job_id)::bigint), array_agg(nullif(n.payload, 'null')) into job_ids, payloads
    from jsonb_array_elements(p_jobs) e
   cross join lateral (
          select e -> 'job_id' as job_id, e -> 'payload' as payload where not e ? 'jobs'
          union all
          select j -> 0, j -> 2 from jsonb_array_elements(e -> 'jobs') j) n;
  perform taskqueue.require_within(p_setup, 'payload_size', format('payload of job %s', m.job_id), m.size)
     from (select u.job_id, octet_length(u.payload::text)::bigint as size
             from unnest(job_ids, payloads) u(job_id, payload)
            where u.payload is not null
            order by 2 desc limit 1) m;
end $$;

comment on function taskqueue.batch_payloads(text, jsonb) is
  'The jobs of a batch, and the payload of each. Errors: PB001 (a payload is too large).';
