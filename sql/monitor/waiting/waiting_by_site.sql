-- The view shows where the waiting jobs may run.
create or replace view monitor.waiting_by_site as
select p.setup,
       case p.site when '*' then '(any site)' else p.site end as site,
       count(*) as task_queues, sum(n.jobs)::bigint as jobs
  from taskqueue.posted_task_queue p
  join taskqueue.task_queue_count n on n.setup = p.setup and n.task_queue_id = p.task_queue_id
 where p.site <> '' and (p.setup = (select resource.bound_setup())) is not false
 group by p.setup, p.site;

comment on view monitor.waiting_by_site is
  'Open TaskQueues and their jobs by the sites that may run them; a queue counts at every site that it lists. Queues '
  'that list no site count at (any site): every site may take their jobs in addition to its own.';
comment on column monitor.waiting_by_site.site is 'Name of the site, or (any site).';
comment on column monitor.waiting_by_site.task_queues is 'Number of open TaskQueues.';
comment on column monitor.waiting_by_site.jobs is 'Number of waiting jobs in these TaskQueues.';
