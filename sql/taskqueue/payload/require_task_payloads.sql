-- The limit is a setting of this schema, which workload does not know, and a world may contain the setting together
-- with its tasks. So a caller that loads tasks calls this after everything is stored, in the same transaction.
create or replace function taskqueue.require_task_payloads(p_setup text, p_task_ids bigint[]) returns void
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_payloads(p_setup, 'task', array_agg(p.task_id), array_agg(p.body))
     from workload.task_payload p
    where p.setup = p_setup and p.task_id = any (p_task_ids);
end $$;

comment on function taskqueue.require_task_payloads(text, bigint[]) is
  'Refuses tasks whose payload has more bytes than the setting payload_size of the setup allows, or more than 500 '
  'levels. Errors: PB001, naming the task of the worst payload; PB002 (setup not granted).';
