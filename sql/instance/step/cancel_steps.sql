create or replace function instance.cancel_steps(p_setup text, p_step_ids bigint[])
returns table (step_id bigint, answer text)
language plpgsql security definer set search_path = instance, pg_temp as $$
begin
  perform instance.identify_submitter(p_setup);
  perform resource.require_known_setup(p_setup);
  if cardinality(p_step_ids) > 100000 then
    raise exception '% steps in one call', cardinality(p_step_ids)
      using errcode = 'PB001', hint = 'A call takes up to 100,000 steps; use several calls.';
  end if;
  return query
  select l.step_id, l.answer
    from instance.leave_instances(p_setup, p_step_ids, '{waiting,placed,unschedulable}', 'cancelled', null) l;
end $$;

comment on function instance.cancel_steps(text, bigint[]) is
  'Cancels steps that wait, are placed or are unschedulable; a placed step leaves its instance. Returns "cancelled" '
  'for each step, or the reason why it did not change (another state, a job of a TaskQueue, no such step). Errors: '
  'PB001 (no such setup, too many steps), PB002 (setup not granted, or only for one owner).';
