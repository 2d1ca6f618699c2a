-- These are PanDA's statuses of jobs; monitor.transition has the statuses that jobs of this database can take.
create or replace function workload.job_statuses() returns text[]
language sql immutable parallel safe as $$
  select '{pending,defined,waiting,assigned,activated,throttled,sent,starting,running,holding,merging,transferring,'
         'finished,failed,cancelled,closed}'::text[]
$$;

comment on function workload.job_statuses() is 'The statuses that a loaded job may have.';
