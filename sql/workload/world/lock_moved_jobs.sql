-- The rows are locked in the order of all other calls, so nobody can move these jobs before the caller has read them
-- again.
create or replace function workload.lock_moved_jobs(p_setup text, p_rows jsonb, p_parents jsonb)
returns table (job_id bigint, status text)
language sql as $$
  with named as (
    select case jsonb_typeof(g.value) when 'object' then g.value -> 'job_id' else g.value end as id
      from jsonb_path_query(jsonb_build_array(p_rows, p_parents), '$[*][*]') g (value)
  ), given as materialized (
    select case when jsonb_typeof(n.id) = 'number' and resource.suits('an integer of 64 bits', n.id)
                then n.id::bigint end as job_id
      from named n
     union select j.job_id from workload.job j where j.setup = p_setup and p_parents = 'true'
  )
  select j.job_id, j.status
    from given g
    join workload.job j on j.setup = p_setup and j.job_id = g.job_id
   where exists (select from workload.job_history h where h.setup = p_setup and h.job_id = j.job_id)
   order by j.job_id
     for update of j
$$;

comment on function workload.lock_moved_jobs(text, jsonb, jsonb) is
  'Locks and returns those jobs of a call of workload.store, given as rows or parents, whose state has changed in this '
  'database. The state of such a job says whether a TaskQueue or a lease has it (STATES.md).';
