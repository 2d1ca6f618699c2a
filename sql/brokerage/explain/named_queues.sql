-- A user who asks why a task does not run first wants to see the queues that the task names, even those that never
-- entered the list. A user's task names them in its site and includedSite (analysis-candidates.md, include-exclude), a
-- production task in its site or that of its master dataset (brokerage.preassignment).
create or replace function brokerage.named_queues(p_setup text, p_task_id bigint, p_profile text default null)
returns table (name text, queues text[])
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
declare
  v_base_profile text;
begin
  perform resource.identify_viewer(p_setup);
  v_base_profile := brokerage.base_profile(brokerage.profile_in_force(p_setup, p_profile));
  return query
    select n.name, array(select q.queue from resource.candidate_queue q
                          where q.setup = p_setup
                            and (q.queue like any (n.patterns) or q.unified_name like any (n.patterns))
                          order by q.queue collate "C")
      from workload.task t
      left join workload.task_dataset i on i.setup = t.setup and i.task_id = t.task_id and i.direction = 'input'
                                       and i.position = 1
      left join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
     cross join lateral (select coalesce(t.label in ('user', 'panda'), false)) u(is_of_user)
     cross join lateral (
           select p.name, array[brokerage.like_text(p.name)]
             from unnest((brokerage.preassignment(t, d, resource.clock(p_setup), v_base_profile)).queues) p(name)
            where not u.is_of_user
           union
           select s.name, brokerage.name_patterns(p_setup, array[s.name], false)
             from unnest(resource.names_of_list(t.site)) s(name)
            where u.is_of_user
              and not (v_base_profile <> 'documented'
                       and exists (select from resource.queue_storage x
                                    where x.setup = p_setup and x.storage = s.name and x.direction = 'read_lan'))
           union
           select c.name, brokerage.name_patterns(p_setup, array[c.name], v_base_profile <> 'documented')
             from unnest(t.included_site) c(name)
            where u.is_of_user and c.name <> ''
              and not (v_base_profile <> 'documented' and c.name = 'AUTO')) n(name, patterns)
     where t.setup = p_setup and t.task_id = p_task_id
     order by n.name collate "C";
end $$;

comment on function brokerage.named_queues(text, bigint, text) is
  'The names and patterns to which a task is pre-assigned (site, included_site), each with the queues of that name, '
  'including pseudo-queues. Errors: PB001, PB002.';
