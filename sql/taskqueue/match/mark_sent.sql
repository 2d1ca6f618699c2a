-- STATES.md: the transition of a brokered job that is matched. Inlined.
create or replace function taskqueue.mark_sent(p_setup text, p_job_ids bigint[]) returns void
language sql as $$
  select workload.change_status(p_setup, p_job_ids, 'activated', 'sent', 'matched')
$$;

comment on function taskqueue.mark_sent(text, bigint[]) is 'Changes the status of brokered jobs that were leased.';
