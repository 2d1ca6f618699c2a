-- Jobs that a world loaded (without history) may be neither waiting nor leased: another system may have them.
create or replace view monitor.job_out_of_step as
select setup, job_id, j.status, p.place
  from workload.job j
  full join (select w.setup, w.job_id, 'waiting' as place from taskqueue.job w where w.brokered
             union all
             select l.setup, l.job_id, 'leased' from taskqueue.lease l where l.brokered) p using (setup, job_id)
 where case p.place
         when 'waiting' then j.status is distinct from 'activated'
         when 'leased' then (j.status in ('sent', 'starting', 'running', 'holding', 'transferring')) is not true
         else j.status in ('activated', 'sent', 'starting', 'running', 'holding', 'transferring')
              and exists (select from workload.job_history h where h.setup = j.setup and h.job_id = j.job_id)
       end
   and (setup = (select resource.bound_setup())) is not false;

comment on view monitor.job_out_of_step is
  'Brokered jobs whose status does not agree with their place: activated jobs wait in a TaskQueue, jobs with a status '
  'from sent to transferring are leased, and all others are neither waiting nor leased. Always empty; a row is a fault '
  'of pgbroker.';
comment on column monitor.job_out_of_step.status is 'Status of the job; null = the job does not exist.';
comment on column monitor.job_out_of_step.place is
  'Place of the job: waiting (in a TaskQueue) or leased; null = neither.';
