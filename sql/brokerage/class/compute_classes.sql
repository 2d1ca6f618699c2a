-- Classes of queues count for 60 minutes, remaining slots of users for 20, classes of tasks for 15 (classes.md). The
-- call does not wait: a row that another session has locked keeps its value until the next call.
create or replace function brokerage.compute_classes(p_setup text, p_profile text default null) returns void
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_profile text := brokerage.profile_in_force(p_setup, p_profile);
  v_base_profile text;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform brokerage.require_profile(v_profile);
  v_base_profile := brokerage.base_profile(v_profile);
  with class as materialized (
    select s.queue, s.site_class from brokerage.site_classes(p_setup, v_base_profile) s
  ), held as materialized (
    select a.queue from resource.queue_activity a
     where a.setup = p_setup and a.queue in (select c.queue from class c)
       for update skip locked
  ), changed as (
    update resource.queue_activity a
       set site_class = c.site_class, site_classified = v_now
      from class c
      join held h on h.queue = c.queue
     where a.setup = p_setup and a.queue = c.queue
  )
  insert into resource.queue_activity (setup, queue, site_class, site_classified)
  select p_setup, c.queue, c.site_class, v_now
    from class c
   where not exists (select from resource.queue_activity a where a.setup = p_setup and a.queue = c.queue)
   order by c.queue
  on conflict do nothing;

  with slot as materialized (
    select s.user_name, s.rem_slots_a, s.rem_slots_b from brokerage.user_slots(p_setup) s
  ), held as materialized (
    select a.name from resource.account a
     where a.setup = p_setup and a.kind = 'user' and a.name in (select s.user_name from slot s)
       for update skip locked
  ), changed as (
    update resource.account a
       set rem_slots_a = s.rem_slots_a, rem_slots_b = s.rem_slots_b, evaluated = v_now
      from slot s
      join held h on h.name = s.user_name
     where a.setup = p_setup and a.kind = 'user' and a.name = s.user_name
  )
  insert into resource.account (setup, kind, name, rem_slots_a, rem_slots_b, evaluated)
  select p_setup, 'user', s.user_name, s.rem_slots_a, s.rem_slots_b, v_now
    from slot s
   where not exists (select from resource.account a
                      where a.setup = p_setup and a.kind = 'user' and a.name = s.user_name)
   order by s.user_name
  on conflict do nothing;

  with class as materialized (
    select t.task_id, t.task_class from brokerage.task_classes(p_setup) t
  ), held as materialized (
    select t.task_id from workload.task t
     where t.setup = p_setup and t.task_id in (select c.task_id from class c)
       for update skip locked
  )
  update workload.task t
     set task_class = c.task_class, task_classified = v_now
    from class c
    join held h on h.task_id = c.task_id
   where t.setup = p_setup and t.task_id = c.task_id;
end $$;

comment on function brokerage.compute_classes(text, text) is
  'Computes the classes of user analysis and stores them; brokerage.classify calls it. Errors: PB001 (no such setup or '
  'profile), PB002 (not an operator).';
