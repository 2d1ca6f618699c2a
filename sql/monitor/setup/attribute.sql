create or replace view monitor.attribute as
select a.setup, a.name, a.type, coalesce(a.absent ->> 'value', a.absent #>> '{}') as absent, a.exclusive
  from taskqueue.attribute a
 where (a.setup = (select resource.bound_setup())) is not false;

comment on view monitor.attribute is
  'Attributes that resources may offer and requirements may name (taskqueue.set_attributes).';
comment on column monitor.attribute.absent is
  'Meaning of a resource without the attribute: fails, passes, or the value that counts.';
