-- The function compares needs with the types once for each distinct shape. Rows that another transaction has locked
-- keep their reason.
create or replace function instance.mark_unplaced(
  p_setup text, p_task_id bigint, p_queue text, p_limit text, out waiting bigint, out unschedulable bigint
)
language plpgsql as $$
begin
  with shape as materialized (
    select h.*,
           h.cpu is null or h.ram is null
           or (instance.required_type(p_setup, h.cpu, h.ram, h.instance_type)).name is not null as fits
      from (select distinct s.cpu, s.ram, s.instance_type
              from instance.unplaced_steps(p_setup, p_task_id, p_queue) s) h
  ), left_over as materialized (
    select s.step_id, case when h.fits and s.fault is null then 'waiting' else 'unschedulable' end as state,
           case when s.fault is not null then s.fault
                when not h.fits then instance.refusal(p_setup, s.step_id, s.cpu, s.ram, s.instance_type)
                when s.cpu is null or s.ram is null
                then format('its needs are not known: %s%s',
                            concat_ws(', ', case when s.cpu is null then 'cpu' end,
                                      case when s.ram is null then 'ram' end), ': ' || instance.missing_inputs(s))
                when s.job_id is not null and (select f.is_leased from taskqueue.fate_of(p_setup, s.job_id) f)
                then 'an agent of no instance has its job'
                else coalesce(p_limit, 'another transaction is changing the step') end as reason
      from instance.unplaced_steps(p_setup, p_task_id, p_queue) s
      join shape h on coalesce(h.cpu, -1) = coalesce(s.cpu, -1) and coalesce(h.ram, -1) = coalesce(s.ram, -1)
                  and h.instance_type is not distinct from s.instance_type
  ), changed as materialized (
    select l.* from left_over l join instance.step s on s.setup = p_setup and s.step_id = l.step_id
     where s.state in ('waiting', 'unschedulable') and (s.state, s.reason) is distinct from (l.state, l.reason)
       for update of s skip locked
  ), stored as (
    update instance.step s
       set state = c.state, reason = c.reason from changed c
     where s.setup = p_setup and s.step_id = c.step_id
  )
  select count(*) filter (where l.state = 'waiting'), count(*) filter (where l.state = 'unschedulable')
    into waiting, unschedulable
    from left_over l;
end $$;

comment on function instance.mark_unplaced(text, bigint, text, text) is
  'Stores the reason why each unplaced step of a task waits (unknown needs, or the limit p_limit). A step that no type '
  'can take becomes unschedulable. Returns how many steps wait and how many are unschedulable.';
