-- Every job matched goes back to its queue, by the call that an agent would use.
select count(taskqueue.release_job(l.setup, l.job_id, taskqueue.attempt_text(l.attempt, l.token)))
  from (select * from taskqueue.lease where setup = 'bench' order by job_id) l;
