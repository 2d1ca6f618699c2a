-- This file runs after the files of the schemas and adds comments that many tables share. A column or constraint with a
-- comment keeps that comment.

do $$
declare
  v_comment text;
begin
  -- A comment of a column depends on the name of the column.
  for v_comment in
    select format('comment on column %s.%I is %L', c.oid::regclass, attname, meaning)
      from (values ('at', 'Time of the row.'),
                   ('cloud', 'Cloud.'),
                   ('dataset', 'Dataset.'),
                   ('gshare', 'Global share.'),
                   ('job_id', 'Job id, the same in every schema of the setup.'),
                   ('jobs', 'Number of jobs.'),
                   ('label', 'prodSourceLabel.'),
                   ('nucleus', 'Nucleus.'),
                   ('position', 'Order, from 1.'),
                   ('queue', 'Queue.'),
                   ('resource_type', 'Resource type.'),
                   ('run_id', 'Run.'),
                   ('setup', 'Tenant: DIRAC''s Setup, PanDA''s vo.'),
                   ('status', 'Status.'),
                   ('task_id', 'Task.'),
                   ('task_queue_id', 'TaskQueue.'),
                   ('user_name', 'User.'),
                   ('user_priority', 'User priority 0..10; 0 is background.'),
                   ('working_group', 'Working group.')) d (name, meaning)
      join pg_attribute on attname = name
      join pg_class c on c.oid = attrelid and relkind in ('r', 'p', 'c') and not relispartition
     where relnamespace::regnamespace::text in
           ('resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance', 'monitor', 'history', 'alert',
            'cluster')
       and col_description(attrelid, attnum) is null
  loop
    execute v_comment;
  end loop;
  -- A comment of a constraint depends on its expression, in which x is the column and casts are left out.
  -- A list of allowed values becomes the comment.
  for v_comment in
    select format('comment on constraint %I on %s is %L', conname, conrelid::regclass, coalesce(meaning, listed))
      from (values ('octet_length(x) <= 300', 'a text of at most 300 bytes'),
                   ('x >= 0', '0 or more'),
                   ('x >= 1', '1 or more'),
                   ('x >= -1', '0 or more, or -1'),
                   ('x > -1000000000 AND x < 1000000000', 'a number between -1e9 and 1e9'),
                   ('x > -1000000000000000 AND x < 1000000000000000', 'a number between -1e15 and 1e15'),
                   ('x > 00:00:00 AND x <= 100 years', 'longer than 0, at most 100 years')) d (condition, meaning)
     right join (select conname, conrelid, connamespace, c.oid,
                   regexp_replace(
                     regexp_replace(pg_get_constraintdef(c.oid, true), E'::\\w+( precision)?|[''"]', '', 'g'),
                     E'\\m' || attname || E'\\M', 'x', 'g') as definition
              from pg_constraint c
              join pg_attribute on attrelid = conrelid and conkey = array[attnum]
             where contype = 'c') c on definition = format('CHECK (%s)', condition)
     cross join regexp_replace(substring(definition from E'^CHECK \\(x = ANY \\(ARRAY\\[(.*)\\]\\)\\)$'),
                               ', ([^,]*)$', E' or \\1') listed
     where coalesce(meaning, listed) is not null
       and connamespace::regnamespace::text in
           ('resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance', 'monitor', 'history', 'alert',
            'cluster')
       and obj_description(c.oid, 'pg_constraint') is null
  loop
    execute v_comment;
  end loop;
end $$;
