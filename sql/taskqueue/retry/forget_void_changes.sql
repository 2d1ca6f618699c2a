-- RETRIES.md, Changes: a cancellation or an insertion of the id does not delete the row.
create or replace function taskqueue.forget_void_changes(p_setup text, p_most int) returns bigint
language sql as $$
  with void as (
    delete from taskqueue.pending_change d
     where d.ctid = any (array(
       select p.ctid from taskqueue.pending_change p
        where p.setup = p_setup
          and not exists (select from taskqueue.job j
                           where j.setup = p.setup and j.job_id = p.job_id and j.entry_id = p.entry_id)
        limit p_most
          for update skip locked))
    returning 1
  )
  select count(*) from void v
$$;

comment on function taskqueue.forget_void_changes(text, int) is
  'Deletes up to p_most pending changes of jobs that were cancelled, deleted or inserted again; returns how many.';
