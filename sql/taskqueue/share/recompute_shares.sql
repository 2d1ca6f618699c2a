-- SHARES.md, When priorities change.
create or replace function taskqueue.recompute_shares(
  p_setup text, p_owner_group text default null, p_limit bigint default null
) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_limit('limit', p_limit);
  perform taskqueue.enter_setup(p_setup);
  if exists (select from taskqueue.setting s
              where s.setup = p_setup and (s.share_correction or s.shares = 'global')) then
    perform taskqueue.join_line(p_setup);  -- before rows of share_correction are locked
  end if;
  perform taskqueue.correct_shares(p_setup, p_owner_group is null);
  return taskqueue.recompute_groups(
    p_setup,
    case when p_owner_group is not null then array[p_owner_group]
         else array(select q.owner_group from taskqueue.task_queue q where q.setup = p_setup
                    union
                    select m.owner_group from taskqueue.share_mark m where m.setup = p_setup
                    union
                    select w.owner_group from taskqueue.owner_weight w where w.setup = p_setup) end,
    p_limit);
end $$;

comment on function taskqueue.recompute_shares(text, text, bigint) is
  'Gives the TaskQueues of a setup, or of one owner group, the priorities that follow from their present jobs and '
  'shares, up to p_limit of them (null = all; later calls go on); returns how many TaskQueues changed. Errors: PB001, '
  'PB002 (setup not granted).';
