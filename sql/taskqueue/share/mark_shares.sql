-- SHARES.md, Global shares: maintenance gives new priorities to groups whose factor moved by more than a tenth.
create or replace function taskqueue.mark_shares(p_setup text) returns bigint
language plpgsql as $$
declare
  v_moved text[];
begin
  if not exists (select from taskqueue.setting s where s.setup = p_setup and s.shares = 'global') then
    return 0;
  end if;
  v_moved := taskqueue.set_factors(p_setup, 0.1);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)
  select p_setup, g, resource.clock(p_setup)
    from unnest(v_moved) g;
  return cardinality(v_moved);
end $$;

comment on function taskqueue.mark_shares(text) is
  'Keeps the factors of groups that follow global shares exact within a tenth, and marks the groups whose factor '
  'moved; returns how many. taskqueue.maintain recomputes them.';
