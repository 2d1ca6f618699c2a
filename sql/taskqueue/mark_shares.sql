-- after: taskqueue.global_factor
-- Where the setting shares is global: groups whose place in the tree has moved by more than a tenth are priced anew by maintenance.
create or replace function taskqueue.mark_shares(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_marked bigint;
begin
  insert into taskqueue.share_mark (setup, owner_group, marked_at)
  select p_setup, f.owner_group, resource.clock(p_setup)
    from taskqueue.setting s
   cross join lateral taskqueue.global_factor(p_setup) f
    left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = f.owner_group and c.owner_dn = ''
   where s.setup = p_setup and s.shares = 'global' and abs(f.factor - coalesce(c.factor, 1)) > 0.1 * coalesce(c.factor, 1);
  get diagnostics v_marked = row_count;
  return v_marked;
end $$;

comment on function taskqueue.mark_shares(text) is
'Marks the groups that are priced by global shares and whose factor is no longer within a tenth of the one in use; returns how many. taskqueue.maintain recomputes them.';
