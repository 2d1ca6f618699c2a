-- This file runs after the files of the schemas and limits names of worlds to 300 bytes: an entry of an index has at
-- most 2,704 bytes, and the counts of jobs are kept by six names. It limits columns of indexes, and columns that jobs
-- copy from tasks. Tables of jobs and counts have no such constraint, since it would cost time at each change of a job:
-- workload.refuse_jobs checks jobs that are loaded, and the counts have the names of jobs and tasks.

do $$
declare
  v_check text;
begin
  for v_check in
    select distinct format('alter table %s add constraint %I check (octet_length(%I) <= 300)', c.oid::regclass,
                           left(format('%s_%s', c.relname, a.attname), 57) || '_short', a.attname)
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'text'::regtype and a.attname <> 'setup'
     where c.relnamespace::regnamespace::text in ('resource', 'workload', 'brokerage') and c.relkind in ('r', 'p')
       and c.relname not like all (array['install%', 'job%', '%_count']) and not c.relispartition
       and (exists (select from pg_index i where i.indrelid = c.oid and a.attnum = any (i.indkey))
            or c.relname = 'task'
               and a.attname in ('queue', 'gshare', 'resource_type', 'nucleus', 'label', 'user_name', 'working_group',
                                 'processing_type'))
  loop
    execute v_check;
  end loop;
end $$;
