-- Each is looked up by its key (a subquery that locks is no part of a join): no plan goes by how many jobs there were
-- when the table was last analysed.
create or replace function instance.locked_jobs(p_setup text, p_job_ids bigint[]) returns setof instance.job
language sql
set enable_seqscan = off
as $$
  select j.*
    from (select distinct u.job_id from unnest(p_job_ids) u (job_id) order by u.job_id) u
   cross join lateral (select o.* from instance.job o where o.setup = p_setup and o.job_id = u.job_id for update) j
$$;

comment on function instance.locked_jobs(text, bigint[]) is
  'Jobs, locked in the order of their ids; those that are not there are left out.';
