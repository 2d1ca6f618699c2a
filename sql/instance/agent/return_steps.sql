create or replace function instance.return_steps(p_setup text, p_step_ids bigint[])
returns table (step_id bigint, answer text)
language plpgsql security definer set search_path = instance, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  return query
  select l.step_id, l.answer
    from instance.leave_instances(p_setup, p_step_ids, '{placed}', 'waiting', 'it came back from its instance') l;
end $$;

comment on function instance.return_steps(text, bigint[]) is
  'Takes steps off their instances, so that they wait to be placed again. Returns "waiting" for each step, or the '
  'reason why it did not change (another state, a job of a TaskQueue, no such step). Errors: PB001 (no such setup), '
  'PB002 (setup not granted).';
