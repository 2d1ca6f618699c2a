-- after: taskqueue.set_factors
-- Where the setting shares is global: groups whose place in the tree has moved by more than a tenth are priced anew by maintenance.
create or replace function taskqueue.mark_shares(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_marked bigint;
begin
  insert into taskqueue.share_mark (setup, owner_group, marked_at)
  select p_setup, g.owner_group, resource.clock(p_setup)
    from taskqueue.setting s
   cross join lateral unnest(taskqueue.set_factors(p_setup, 0.1)) g (owner_group)
   where s.setup = p_setup and s.shares = 'global';
  get diagnostics v_marked = row_count;
  return v_marked;
end $$;

comment on function taskqueue.mark_shares(text) is
'Keeps the factors of groups that follow global shares within a tenth, and marks the groups that moved; returns how many. taskqueue.maintain recomputes them.';
