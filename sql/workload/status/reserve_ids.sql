-- Jobs that were made in another database have ids of the same range. The sequence jumps far beyond these ids, so that
-- concurrent calls of nextval stay below the new value.
create or replace function workload.reserve_ids(p_setup text) returns void
language sql as $$
  select setval('workload.job_id', m.job_id + 1000000)
    from (select max(j.job_id) as job_id from workload.job j where j.setup = p_setup) m
   where m.job_id >= (select s.last_value + s.is_called::int from workload.job_id s)
$$;

comment on function workload.reserve_ids(text) is
  'Makes sure that jobs made by brokerage from now on have ids beyond those of the jobs of a setup.';
