-- Consistency: always empty. Jobs that a world brought (without history) may be in neither: who
-- has them need not be known here.
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
  'Brokered jobs whose status is not that of where they are: activated ones wait in a TaskQueue, sent to transferring '
  'ones are leased, all others are in neither. Always empty; a row is a fault of pgbroker.';
comment on column monitor.job_out_of_step.status is 'Its status; null = there is no such job.';
comment on column monitor.job_out_of_step.place is 'waiting (in a TaskQueue), leased; null = neither.';
