-- A task that is pre-assigned to a queue which is not there is asked of no queue, and no queue's reason can say so.
create or replace function brokerage.unknown_queues(p_setup text, p_task_id bigint, p_profile text default null) returns text[]
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform brokerage.require_tasks(p_setup, array[p_task_id]);
  return array(
    select u.queue
      from workload.task t
      left join workload.task_dataset i on i.setup = t.setup and i.task_id = t.task_id and i.direction = 'input' and i.position = 1
      left join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
     cross join lateral brokerage.preassignment(t, d, resource.clock(p_setup),
                                                brokerage.flavour(coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc'))) p
     cross join lateral unnest(p.queues) u(queue)
     where t.setup = p_setup and t.task_id = p_task_id
       and not exists (select from resource.candidate_queue q where q.setup = p_setup and u.queue in (q.queue, q.unified_name))
     order by 1);
end $$;

comment on function brokerage.unknown_queues(text, bigint, text) is 'Queues that a task is pre-assigned to and that are not in the setup. Errors: PB001, PB002, PB004 (no such task).';
