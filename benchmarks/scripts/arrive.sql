-- New jobs as from production systems: in bulk, each with the requirements of a random job of the workload.
select taskqueue.insert_jobs('bench', jsonb_agg(jsonb_build_object('job_id', nextval('bench.job_id'), 'requirements', t.requirements,
                                                                   'user_priority', t.user_priority)))
  from (select 1 + floor(random() * %(templates)s)::int as n from generate_series(1, %(jobs)s)) drawn
  join bench.template t using (n);
