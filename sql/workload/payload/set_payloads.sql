-- A job that is inserted again has the payload of the new insertion, or none. In a setup without payloads, as most are,
-- nothing is looked up for a job.
create or replace function workload.set_payloads(p_setup text, p_job_ids bigint[], p_bodies jsonb[]) returns void
language plpgsql as $$
begin
  if exists (select from workload.payload p where p.setup = p_setup) then
    delete from workload.payload p
     where p.setup = p_setup
       and p.job_id = any (array(select n.job_id from unnest(p_job_ids, p_bodies) n(job_id, body)
                                  where n.body is null));
  end if;
  insert into workload.payload as p (setup, job_id, body)
  select p_setup, n.job_id, n.body
    from unnest(p_job_ids, p_bodies) n(job_id, body)
   where n.body is not null
   order by n.job_id
  on conflict (setup, job_id) do update set body = excluded.body where p.body <> excluded.body;
end $$;

comment on function workload.set_payloads(text, bigint[], jsonb[]) is
  'Stores the payloads of jobs that are inserted. A null payload deletes the payload of an earlier job with the same '
  'id.';
