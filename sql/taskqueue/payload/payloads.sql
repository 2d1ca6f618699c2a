-- LEASES.md, Payloads: after a match, a caller gets the payloads of all its jobs at once if it has their attempts.
create or replace function taskqueue.payloads(p_setup text, p_leases jsonb)
returns table (job_id bigint, payload jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_read record;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'leases', taskqueue.json_size(p_leases));
  v_read := taskqueue.read_reports(p_leases, '{job_id,attempt}');
  return query
    select l.job_id, b.body
      from unnest(v_read.job_ids, v_read.attempts) a (job_id, attempt)
      join taskqueue.lease l on l.setup = p_setup and l.job_id = a.job_id
                            and taskqueue.attempt_text(l.attempt, l.token) = a.attempt
      left join workload.payload p on p.setup = p_setup and p.job_id = l.job_id
     cross join lateral (
            select coalesce(p.body, case when l.brokered then workload.payload_of_task(p_setup, l.job_id) end)
            offset 0) b (body)
     where b.body is not null;
end $$;

comment on function taskqueue.payloads(text, jsonb) is
  'The payloads of leased jobs, given as [{job_id, attempt}]: one row for each job that has a payload (or whose task '
  'has one) and whose attempt is the current one. Errors: PB001 (not such a list), PB002 (setup not granted).';
