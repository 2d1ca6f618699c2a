-- The rows are locked in the order of all other calls, so nobody moves these jobs before the caller has stored them.
create or replace function workload.lock_given_jobs(p_setup text, p_rows jsonb, p_parents jsonb) returns bigint[]
language plpgsql as $$
declare
  v_ids bigint[];
begin
  with named as (
    select case jsonb_typeof(g.value) when 'object' then g.value -> 'job_id' else g.value end as id
      from jsonb_path_query(jsonb_build_array(p_rows, p_parents), '$[*][*]') g (value)
  )
  select coalesce(array_agg(i.job_id), '{}') into v_ids
    from (select n.id::bigint as job_id
            from named n
           where jsonb_typeof(n.id) = 'number' and resource.suits('an integer of 64 bits', n.id)
           union select j.job_id from workload.job j where j.setup = p_setup and p_parents = 'true') i;
  perform from workload.job j where j.setup = p_setup and j.job_id = any (v_ids) order by j.job_id for update;
  return v_ids;
end $$;

comment on function workload.lock_given_jobs(text, jsonb, jsonb) is
  'Locks the jobs of a call of workload.store, given as rows or parents, and returns the given ids, also of new jobs.';
