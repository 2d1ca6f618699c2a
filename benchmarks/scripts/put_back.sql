-- Put every matched job back into its queue, with the call that an agent would use.
select count(taskqueue.release_job(l.setup, l.job_id, taskqueue.attempt_text(l.attempt, l.token)))
  from (select * from taskqueue.lease where setup = 'bench' order by job_id) l;
