create or replace view monitor.transition as
select t.from_status, t.to_status
  from workload.transition t;

comment on view monitor.transition is
  'Which changes of a job''s status there are (workload.change_status refuses all others).';
