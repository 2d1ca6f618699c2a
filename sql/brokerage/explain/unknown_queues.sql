-- A task that is pre-assigned to a missing queue is evaluated for no queue, so no reason of a queue can show the cause.
create or replace function brokerage.unknown_queues(p_setup text, p_task_id bigint, p_profile text default null)
returns text[]
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
begin
  perform brokerage.require_tasks(p_setup, array[p_task_id]);
  return array(
    select n.name from brokerage.named_queues(p_setup, p_task_id, p_profile) n where n.queues = '{}' order by 1);
end $$;

comment on function brokerage.unknown_queues(text, bigint, text) is
  'Queues to which a task is pre-assigned but that are not in the setup, and patterns of included_site that match no '
  'queue. Errors: PB001, PB002, PB004 (no such task).';
