create or replace view monitor.job_in_two_states as
select s.setup, s.job_id, string_agg(s.state, ', ' order by s.state) as states
  from (select j.setup, j.job_id, 'waiting' as state from taskqueue.job j
        union all
        select l.setup, l.job_id, 'leased' from taskqueue.lease l
        union all
        select e.setup, e.job_id, 'ended' from taskqueue.ended e) s
 where (s.setup = (select resource.bound_setup())) is not false
 group by s.setup, s.job_id
having count(*) > 1;

comment on view monitor.job_in_two_states is
  'Jobs that are in more than one of the states waiting, leased and ended. Always empty; a row is a fault of pgbroker.';
comment on column monitor.job_in_two_states.states is 'States that the job is in.';
