-- ENDS.md, Classes of errors: no two rows fit the same error. The planner leaves out the parts of other sources.
create or replace view taskqueue.shipped_error as
select p.source, p.code_from, p.code_to, p.text, p.class, p.meaning
  from (select 'pilot' as source, e.code as code_from, e.code as code_to, null as text, e.class, e.meaning
          from taskqueue.shipped_pilot_error e
         union all
        select 'pilot', e.code, e.code, null, e.class, e.meaning from taskqueue.shipped_pilot2_error e
         union all
        select e.source, e.code, e.code, null, e.class, e.meaning from taskqueue.shipped_server_error e
         union all
        select 'sup', e.code_from, e.code_to, null, e.class, e.meaning from taskqueue.shipped_worker_error e
         union all
        select e.source, e.code_from, e.code_to, null, e.class, e.meaning from taskqueue.shipped_exit_error e
         union all
        select 'dirac', null, null, e.text, e.class, e.meaning from taskqueue.shipped_dirac_error e) p;

comment on view taskqueue.shipped_error is
  'The errors of PanDA, of DIRAC and of programs that every setup knows, with their classes and meanings. Classes of a '
  'setup come before (taskqueue.error_class).';
comment on column taskqueue.shipped_error.source is
  'Component that gave the error: pilot, exe, sup, ddm, brokerage, jobdispatcher, taskbuffer (PanDA), dirac, or '
  'payload (the exit code of a program).';
comment on column taskqueue.shipped_error.code_from is 'First code; null for a text.';
comment on column taskqueue.shipped_error.code_to is 'Last code; null for a text.';
comment on column taskqueue.shipped_error.text is 'Text as a pattern of LIKE: a % is any text; null for codes.';
comment on column taskqueue.shipped_error.class is
  'Class: infrastructure, payload, input, memory, time or lost; null if the error alone does not tell.';
comment on column taskqueue.shipped_error.meaning is 'Meaning of the error.';
