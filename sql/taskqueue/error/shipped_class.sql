-- ENDS.md, Classes of errors.
create or replace view taskqueue.shipped_class as
select c.class
  from unnest('{infrastructure,payload,input,memory,time,lost,unknown}'::text[]) c (class);

comment on view taskqueue.shipped_class is 'The classes of errors that every setup has.';
comment on column taskqueue.shipped_class.class is 'Class, as in the history of a failed end.';
