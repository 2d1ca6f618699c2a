-- SHARES.md, When priorities change. A portion has about 500 TaskQueues, or a single group: the caller looks at the
-- clock after each.
create or replace function taskqueue.groups_to_recompute(p_setting taskqueue.setting, p_now timestamptz)
returns setof text[]
language sql stable as $$
  select array_agg(g.owner_group order by g.place)
    from (select m.owner_group, m.place, div(sum(n.task_queues) over (order by m.place) - n.task_queues, 500) as portion
            from (select k.owner_group, row_number() over (order by min(k.marked_at), k.owner_group) as place
                    from taskqueue.share_mark k where k.setup = p_setting.setup
                   group by k.owner_group
                  having min(k.marked_at) <= p_now - p_setting.share_delay / 2) m
           cross join lateral (select count(*) + 1 as task_queues from taskqueue.task_queue q
                                where q.setup = p_setting.setup and q.owner_group = m.owner_group) n) g
   group by g.portion
   order by g.portion
$$;

comment on function taskqueue.groups_to_recompute(taskqueue.setting, timestamptz) is
  'Groups whose TaskQueues changed at least half a share_delay ago, in portions; groups that wait longest come first.';
