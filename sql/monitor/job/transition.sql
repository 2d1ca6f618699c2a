create or replace view monitor.transition as
select t.from_status, t.to_status
  from workload.transition t;

comment on view monitor.transition is
  'The changes of a job''s status that exist (workload.change_status refuses all others).';
