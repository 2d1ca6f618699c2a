-- LEASES.md, Attempts: every call about leased jobs presents their attempts. Leases are locked in the order of the
-- arrays. The call does not wait for a lease with another attempt, but it waits for an earlier identical call that is
-- still running (its client may have given up).
create or replace function taskqueue.presented_leases(
  p_setup text, p_job_ids bigint[], p_attempts text[], p_events text[] default null, p_numbers int[] default null,
  p_subjects text[] default null, p_alone boolean[] default null, p_facts taskqueue.run_facts[] default null
) returns taskqueue.lease_event[]
language plpgsql as $$
declare
  v_is_service boolean := p_subjects is not null and resource.is_service();
  v_subject text;
begin
  if v_is_service then
    v_subject := (resource.subject()).name;
  elsif p_subjects is not null then
    perform resource.call_for((select min(s) from unnest(p_subjects) s));
  end if;
  return array(
    select row(l.o, e.event, e.subject, null, p_facts[e.n], null, null)::taskqueue.lease_event
      from unnest(p_job_ids, p_attempts, p_events, p_numbers, p_subjects, p_alone)
             with ordinality e (job_id, attempt, event, number, subject, is_alone, n)
     cross join lateral (
       select o
         from taskqueue.lease o
        where o.setup = p_setup and o.job_id = e.job_id
          and case when e.attempt is not null then taskqueue.attempt_text(o.attempt, o.token) = e.attempt
                   else v_is_service and o.subject = coalesce(e.subject, v_subject)
                        and o.attempt = coalesce(e.number, o.attempt) end
          for update) l
     where e.is_alone is not true);
end $$;

comment on function taskqueue.presented_leases(
  text, bigint[], text[], text[], int[], text[], boolean[], taskqueue.run_facts[]) is
  'Locks and returns the leases that a call presents by their attempts (through the service by subject and number), '
  'each with its event and its facts. Elements that are handled alone are skipped. Errors: PB002 (a '
  'login other than the service gives a subject).';
