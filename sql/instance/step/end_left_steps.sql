-- The function skips steps that another transaction has locked, and leaves them to that transaction. An agent that
-- takes jobs locks its instance, so the instances are locked before leases are looked at once more.
create or replace function instance.end_left_steps(p_setup text, p_instance_id bigint default null) returns bigint
language plpgsql set jit = off set enable_seqscan = off set enable_material = off as $$
declare
  v_steps instance.step[];
  v_ids bigint[];
  v_part record;
  v_ended bigint := 0;
begin
  if p_instance_id is null then
    v_steps := array(select s from instance.step s
                     where s.setup = p_setup and s.state in ('waiting', 'unschedulable')
                       and s.job_id is not null
                    union all
                    select s from instance.step s
                     where s.setup = p_setup and s.state = 'placed' and s.job_id is not null);
  else
    v_steps := array(select s from instance.step s
                     where s.setup = p_setup and s.state = 'placed' and s.instance_id = p_instance_id
                       and s.job_id is not null);
  end if;
  v_ids := array(
    with open as materialized (
      select c.queue, c.task_queue_id, c.cpu::numeric, c.ram
        from instance.cloud_task_queue c
       where c.setup = p_setup
    ), left_over as materialized (
      select s.step_id, s.state, s.queue, s.cpu, s.ram, f.task_queue_id
        from unnest(v_steps) s
       cross join lateral taskqueue.fate_of(p_setup, s.job_id) f
       where not f.is_leased
    )
    select l.step_id from left_over l
     where l.queue is null or l.task_queue_id is null
        or (l.queue, l.task_queue_id) not in (select o.queue, o.task_queue_id from open o)
        or l.state = 'placed'
           and (l.queue, l.task_queue_id, l.cpu, l.ram) not in (select o.queue, o.task_queue_id, o.cpu, o.ram
                                                                  from open o));
  if v_ids = '{}' then
    return 0;
  end if;
  v_ids := array(select o.step_id from unnest(v_ids) u (step_id)
                  cross join lateral (select s.step_id from instance.step s
                                       where s.setup = p_setup and s.step_id = u.step_id
                                         for update skip locked) o);
  perform from instance.instance i
    where i.setup = p_setup
      and i.instance_id = any (array(
        select s.instance_id from unnest(v_steps) s
         where s.state = 'placed' and (s.step_id in (select u from unnest(v_ids) u)) is true))
    order by i.instance_id
      for update;
  for v_part in
    select w.state, w.reason, array_agg(w.step_id) as ids
      from (select s.step_id, case when f.outcome = 'finished' then 'finished' else 'cancelled' end as state,
                   case when f.waits
                        then 'its job is held, has other needs now, or waits for a queue that is offline or not of '
                             'kind cloud'
                        else coalesce('it ended: ' || f.outcome, 'it is in no TaskQueue') end as reason
              from unnest(v_steps) s
             cross join lateral taskqueue.fate_of(p_setup, s.job_id) f
             where (s.step_id in (select u from unnest(v_ids) u)) is true and not f.is_leased) w
     group by w.state, w.reason
  loop
    v_ended := v_ended + (select count(*)
                            from instance.leave_instances(p_setup, v_part.ids, '{waiting,unschedulable,placed}',
                                                          v_part.state, v_part.reason, true));
  end loop;
  return v_ended;
end $$;

comment on function instance.end_left_steps(text, bigint) is
  'Ends the steps (of one instance, or all) whose jobs neither have a lease nor wait in a TaskQueue for a queue of '
  'kind cloud, and placed steps whose jobs wait with other needs. Returns how many steps it ended.';
