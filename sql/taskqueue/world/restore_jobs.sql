-- worlds.md, Loading: the jobs were inserted, or moved, by this transaction. A hold by an operator stays, and the
-- number of attempts never falls.
create or replace function taskqueue.restore_jobs(p_setup text, p_states jsonb) returns void
language plpgsql set timezone = 'UTC' as $$
declare
  v_bad record;
begin
  perform resource.check_keys('state of a job', p_states, '{"id": "an integer of 64 bits", "held": "true or false",
    "not_before": "a time", "attempts": "an integer of 32 bits", "losses": "an integer of 16 bits",
    "failures": "an integer of 16 bits", "avoid": "a text", "avoid_until": "a time"}');
  select s.id, f.fault into v_bad
    from jsonb_to_recordset(p_states) s (id bigint, held boolean, not_before timestamptz, attempts int, losses smallint,
                                         failures smallint, avoid text, avoid_until timestamptz)
   cross join lateral (
          select case when s.attempts not between 0 and 99999999
                      then format('attempts is %s, not 0 to 99,999,999', s.attempts)
                      when s.losses < 0 then format('losses is %s, not 0 or more', s.losses)
                      when s.failures < 0 then format('failures is %s, not 0 or more', s.failures)
                      when s.not_before is not null and s.held is not true
                      then format('not_before is %s, but the job is not held', s.not_before)
                      else taskqueue.avoid_fault(s.avoid, s.avoid_until) end as fault) f
   where f.fault is not null
   order by s.id limit 1;
  if found then
    raise exception 'job %: %', v_bad.id, v_bad.fault
      using errcode = 'PB001',
            hint = 'not_before is the end of the hold of a retry rule; avoid names a host until avoid_until.';
  end if;
  with restored as (
    update taskqueue.job j
       set held = o.held or coalesce(s.held, false),
           not_before = case when not o.held then s.not_before end,
           attempts = greatest(s.attempts, o.attempts), losses = coalesce(s.losses, 0),
           failures = coalesce(s.failures, 0), avoid = s.avoid, avoid_until = s.avoid_until,
           entry_id = case when s.held and not o.held then nextval('taskqueue.entry_id') else j.entry_id end
      from jsonb_to_recordset(p_states) s (id bigint, held boolean, not_before timestamptz, attempts int,
                                           losses smallint, failures smallint, avoid text, avoid_until timestamptz)
      join taskqueue.job o on o.setup = p_setup and o.job_id = s.id
     where j.setup = p_setup and j.job_id = o.job_id
    returning j.task_queue_id, j.user_priority, o.entry_id, j.held and not o.held as is_new
  )
  insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, entry_id)
  select p_setup, r.task_queue_id, r.user_priority, -1, r.entry_id from restored r where r.is_new;
end $$;

comment on function taskqueue.restore_jobs(text, jsonb) is
  'Gives loaded jobs their state: an array of {id, held, not_before, attempts, losses, failures, avoid, avoid_until}. '
  'Errors: PB001, naming the job, the key and the value.';
