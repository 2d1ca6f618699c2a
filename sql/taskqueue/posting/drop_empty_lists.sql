-- DRAWING.md, Posting lists: removes lists that have become empty. The lists are locked first and tested afterwards: a
-- transaction that appends holds the row of the list until its commit, so its postings are seen. The call does not
-- wait: a list on which another transaction works is left for the next call.
create or replace function taskqueue.drop_empty_lists(p_setup text) returns bigint
language plpgsql as $$
declare
  v_locked tid[];
  v_count bigint;
begin
  v_locked := array(select l.ctid from taskqueue.posting_list l
                     where l.setup = p_setup
                       and not exists (select from taskqueue.posting p
                                        where p.setup = l.setup and p.list_id = l.list_id)
                       for update skip locked);
  delete from taskqueue.posting_list l
   where l.ctid = any (v_locked)
     and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

comment on function taskqueue.drop_empty_lists(text) is
  'Removes the lists that hold no TaskQueue; returns how many were removed.';
