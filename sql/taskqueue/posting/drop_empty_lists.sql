-- Lists that have run empty, in which no point falls any more. Locked first, looked at then: who
-- appends holds the row until its commit, so what it appended is seen. Nobody waits: a list that
-- somebody works on is left for the next time.
create or replace function taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) returns bigint
language plpgsql
as $$
declare
  v_locked bigint[];
  v_count bigint;
begin
  v_locked := array(select l.list_id from taskqueue.posting_list l
                     where l.setup = p_setup and l.list_id = any (p_list_ids)
                       and not exists (select from taskqueue.posting p
                                        where p.setup = l.setup and p.list_id = l.list_id)
                       for update skip locked);
  if v_locked = '{}' then
    return 0;
  end if;
  delete from taskqueue.posting_list l
   where l.setup = p_setup and l.list_id = any (v_locked)
     and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

comment on function taskqueue.drop_empty_lists(text, bigint[]) is
  'Removes those of the lists that hold no queue; returns how many.';
