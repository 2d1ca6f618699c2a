create or replace view monitor.error_class as
select c.setup, c.position, c.source, c.code_from, c.code_to, c.pattern, c.class
  from taskqueue.error_class c
 where (c.setup = (select resource.bound_setup())) is not false;

comment on view monitor.error_class is
  'Classes of errors that were set (taskqueue.set_error_classes). The first row by position that fits an error '
  'decides; an error that no row fits has its shipped class (taskqueue.shipped_error).';
