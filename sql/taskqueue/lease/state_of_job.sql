-- LEASES.md, Ended jobs: the states of a job in this schema are waiting (or held), leased (matched, running) and ended.
create or replace function taskqueue.state_of_job(p_setup text, p_job_id bigint) returns text
language plpgsql stable as $$
declare
  v_state text;
begin
  select case when j.held then 'held' else 'waiting' end
    into v_state
    from taskqueue.job j
   where j.setup = p_setup and j.job_id = p_job_id;
  if v_state is null then
    select 'leased (' || l.state || ')'
      into v_state
      from taskqueue.lease l
     where l.setup = p_setup and l.job_id = p_job_id;
  end if;
  if v_state is null then
    select 'ended (' || e.outcome || ')'
      into v_state
      from taskqueue.ended e
     where e.setup = p_setup and e.job_id = p_job_id;
  end if;
  if v_state is null then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'It was never inserted, or it ended and was forgotten.';
  end if;
  return v_state;
end $$;

comment on function taskqueue.state_of_job(text, bigint) is 'State of a job, as text. Errors: PB004 (no such job).';
