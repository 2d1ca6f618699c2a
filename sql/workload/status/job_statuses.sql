-- PanDA's statuses of jobs; those that jobs here go through are in monitor.transition.
create or replace function workload.job_statuses() returns text[]
language sql immutable parallel safe as $$
  select '{pending,defined,waiting,assigned,activated,throttled,sent,starting,running,holding,merging,transferring,'
         'finished,failed,cancelled,closed}'::text[]
$$;

comment on function workload.job_statuses() is 'The statuses that a job may have where it is loaded.';
